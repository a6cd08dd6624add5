import { isJsonObject, Secret } from '../../core/index.ts';
import { KEY_SECRET_NAMES } from '../../crypto/index.ts';
import type { Secrets } from '../../model/index.ts';
import type { Json } from './json.ts';

/** The text that Keycloak shows instead of a secret, see docs/keycloak/admin-api.md#masking. */
export const MASK = '**********';

/** The secret fields of a realm's representation, by the object that contains them. */
const REALM_SECRETS = {
  /** Keys of realms from old versions of Keycloak, which had no key components. */
  realm: ['privateKey', 'codeSecret'],
  smtpServer: ['password', 'authTokenClientSecret'],
  identityProvider: ['clientSecret'],
  authenticatorConfig: ['secret', 'secret.key', 'password'],
} as const;

/** The secret fields in the `config` of components. */
export const COMPONENT_SECRETS: ReadonlySet<string> = new Set([
  ...KEY_SECRET_NAMES,
  'bindCredential',
  'keystorePassword',
  'keyPassword',
]);

/** A value without its secrets, and the secrets by their JSON pointer (RFC 6901). */
export interface Split<T> {
  rest: T;
  secrets: Secrets;
}

/** Separates the secrets from a realm's representation. */
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

/** Returns `object` without the named fields that contain text, and adds those fields to `secrets` below `pointer`. */
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
 * Puts secrets back at their JSON pointers, in the clear or masked. Leaves out a secret if the object that contained it
 * does not exist any more.
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
