import { isJsonObject, Secret } from '../../core/index.ts';
import { KEY_SECRET_NAMES } from '../../crypto/index.ts';
import type { Secrets } from '../../model/index.ts';
import type { Json } from './json.ts';

/** What Keycloak shows in place of a secret (facts §8.5). */
export const MASK = '**********';

/** Names below an object of a realm's representation that are secret, by the object's place. */
const REALM_SECRETS = {
  /** Keys that realms of old Keycloaks carry beside their components. */
  realm: ['privateKey', 'codeSecret'],
  smtpServer: ['password', 'authTokenClientSecret'],
  identityProvider: ['clientSecret'],
  authenticatorConfig: ['secret', 'secret.key', 'password'],
} as const;

/** Names below `config` of any component that are secret. */
export const COMPONENT_SECRETS: ReadonlySet<string> = new Set([
  ...KEY_SECRET_NAMES,
  'bindCredential',
  'keystorePassword',
  'keyPassword',
]);

/** A value without its secrets, and these by JSON pointer (RFC 6901). */
export interface Split<T> {
  rest: T;
  secrets: Secrets;
}

/** Takes the secrets out of the fields of a realm's representation that hold some. */
export function splitRealmSecrets(representation: Json): Split<Json> {
  const secrets: Record<string, Secret> = {};
  const rest: Record<string, unknown> = { ...takeOut(representation, REALM_SECRETS.realm, '', secrets) };
  const smtp = representation['smtpServer'] as Json | undefined;
  if (smtp !== undefined)
    rest['smtpServer'] = takeOut(smtp, REALM_SECRETS.smtpServer, '/smtpServer', secrets);
  for (const [field, names] of [
    ['identityProviders', REALM_SECRETS.identityProvider],
    ['authenticatorConfig', REALM_SECRETS.authenticatorConfig],
  ] as const) {
    const list = representation[field];
    if (!Array.isArray(list)) continue;
    rest[field] = list.map((entry: unknown, index) => {
      const config = isJsonObject(entry) ? entry['config'] : undefined;
      if (!isJsonObject(config)) return entry;
      return { ...(entry as Json), config: takeOut(config, names, `/${field}/${index}/config`, secrets) };
    });
  }
  return { rest, secrets };
}

/** `object` without the named fields; those that hold text go to `secrets` under `pointer`. */
export function takeOut(
  object: Json,
  names: Iterable<string>,
  pointer: string,
  secrets: Record<string, Secret>,
): Json {
  const rest: Record<string, unknown> = { ...object };
  for (const name of names) {
    const value = object[name];
    if (typeof value !== 'string') continue;
    delete rest[name];
    secrets[`${pointer}/${escapePointer(name)}`] = new Secret(value);
  }
  return rest;
}

/**
 * Puts secrets back where their pointers say, in the clear or masked. What the pointer walks through must be there;
 * a secret whose place is gone is left out.
 */
export function putSecretsBack(representation: Json, secrets: Secrets, how: 'clear' | 'masked'): Json {
  if (Object.keys(secrets).length === 0) return representation;
  const copy = structuredClone(representation) as Record<string, unknown>;
  for (const [pointer, secret] of Object.entries(secrets)) {
    const steps = pointer.slice(1).split('/').map(unescapePointer);
    const last = steps.pop()!;
    let place: unknown = copy;
    for (const step of steps)
      place = isJsonObject(place) || Array.isArray(place) ? (place as Json)[step] : undefined;
    if (typeof place === 'object' && place !== null)
      Object.defineProperty(place, last, {
        value: how === 'clear' ? secret.reveal() : MASK,
        enumerable: true,
        configurable: true,
        writable: true,
      });
  }
  return copy;
}

function escapePointer(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

function unescapePointer(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~');
}
