import { isJsonObject } from '../../core/index.ts';
import { KEY_PROVIDER_TYPE } from '../../crypto/index.ts';
import { RepresentationFault } from './fault.ts';
import { type Json, objects } from './json.ts';
import { COMPONENT_SECRETS, MASK } from './secrets.ts';

/** A secret that a representation does not contain, because its value is a mask or an unresolved placeholder. */
export interface MissingSecret {
  /** JSON path, for example `$.clients[0].secret`. */
  path: string;
  what: 'mask' | 'placeholder';
  /** The text of the mask or placeholder, which is not a secret. */
  text: string;
}

const CLIENT_SECRETS = ['secret', 'registrationAccessToken'] as const;
const CLIENT_ATTRIBUTE = 'client.secret.rotated';
/** Public fields of a key component that match its secrets. New secrets need new values of these fields. */
const KEY_PUBLIC = ['certificate', 'kid'] as const;

/**
 * Removes secrets that are masks or unresolved placeholders, and returns them separately. Without these fields, a
 * client gets a new random secret, a key component gets new keys, and a user gets no password.
 */
export function takeOutMissingSecrets(representation: Json): { rest: Json; taken: readonly MissingSecret[] } {
  const taken: MissingSecret[] = [];
  const clients = mapList(representation['clients'], '$.clients', (client, path) =>
    cleanClient(client, path, taken),
  );
  const users = mapList(representation['users'], '$.users', (user, path) => cleanUser(user, path, taken));
  const components = cleanComponents(representation['components'], '$.components', taken);
  const smtpServer = isJsonObject(representation['smtpServer'])
    ? without(
        representation['smtpServer'],
        ['password', 'authTokenClientSecret'],
        '$.smtpServer',
        taken,
        KEPT,
      )
    : undefined;
  const identityProviders = mapList(
    representation['identityProviders'],
    '$.identityProviders',
    (provider, path) =>
      isJsonObject(provider['config'])
        ? {
            ...provider,
            config: without(provider['config'], ['clientSecret'], `${path}.config`, taken, KEPT),
          }
        : provider,
  );
  const parts = { clients, users, components, smtpServer, identityProviders };
  const own = without(representation, ['privateKey', 'codeSecret'], '$', taken);
  const changed = Object.entries(parts).filter(([, part]) => part !== undefined);
  return { rest: { ...own, ...Object.fromEntries(changed) }, taken };
}

/**
 * Refuses a representation with a mask or a placeholder instead of a secret, because anyone could guess such a secret.
 *
 * @throws RepresentationFault for the first such field
 */
export function checkSecrets(representation: Json): void {
  const [first] = takeOutMissingSecrets(representation).taken;
  if (first !== undefined) throw new MissingSecretFault(first);
}

/** Checks one client as `checkSecrets` checks a realm. @throws RepresentationFault */
export function checkClientSecrets(client: Json, path: string): void {
  const taken: MissingSecret[] = [];
  cleanClient(client, path, taken);
  if (taken[0] !== undefined) throw new MissingSecretFault(taken[0]);
}

/**
 * Removes masked secrets from a client, so that an update keeps the stored ones. See
 * docs/keycloak/admin-api.md#masking.
 */
export function withoutMaskedSecrets(client: Json): Json {
  const isMasked = (value: unknown): boolean => value === MASK;
  const drop = (object: Json, names: readonly string[]): Json =>
    Object.fromEntries(
      Object.entries(object).filter(([name, value]) => !(names.includes(name) && isMasked(value))),
    );
  const rest = drop(client, CLIENT_SECRETS);
  const attributes = rest['attributes'];
  return isJsonObject(attributes) ? { ...rest, attributes: drop(attributes, [CLIENT_ATTRIBUTE]) } : rest;
}

/** The representation contains a mask or an unresolved placeholder instead of a secret. */
export class MissingSecretFault extends RepresentationFault {
  constructor({ path, what, text }: MissingSecret) {
    super(
      path,
      what === 'mask'
        ? `is the mask ${text} instead of a secret`
        : `is the placeholder ${text}, which has no value, instead of a secret`,
    );
  }
}

/**
 * A reference to Keycloak's vault, which idkit cannot read. It is accepted only for secrets that idkit does not use.
 */
const KEPT = /^\$\{vault\.[^{}]+\}$/;
const PLACEHOLDER = /\$\{[^{}]*\}/;

function judge(value: unknown, path: string, kept?: RegExp): MissingSecret | undefined {
  if (typeof value !== 'string') return undefined;
  if (value === MASK) return { path, what: 'mask', text: MASK };
  if (kept?.test(value)) return undefined;
  const placeholder = PLACEHOLDER.exec(value)?.[0];
  return placeholder === undefined ? undefined : { path, what: 'placeholder', text: placeholder };
}

function without(
  object: Json,
  names: readonly string[],
  path: string,
  taken: MissingSecret[],
  kept?: RegExp,
): Json {
  const found = names.flatMap((name) => {
    const missing = judge(object[name], `${path}.${name}`, kept);
    if (missing !== undefined) taken.push(missing);
    return missing === undefined ? [] : [name];
  });
  if (found.length === 0) return object;
  return Object.fromEntries(Object.entries(object).filter(([name]) => !found.includes(name)));
}

function cleanClient(client: Json, path: string, taken: MissingSecret[]): Json {
  const rest = without(client, CLIENT_SECRETS, path, taken);
  const attributes = rest['attributes'];
  if (!isJsonObject(attributes)) return rest;
  const missing = judge(attributes[CLIENT_ATTRIBUTE], `${path}.attributes["${CLIENT_ATTRIBUTE}"]`);
  if (missing === undefined) return rest;
  taken.push(missing);
  const { [CLIENT_ATTRIBUTE]: _, ...others } = attributes;
  return { ...rest, attributes: others };
}

function cleanUser(user: Json, path: string, taken: MissingSecret[]): Json {
  if (user['credentials'] === undefined) return user;
  const credentials = objects(user['credentials']).filter((credential, index) => {
    const at = `${path}.credentials[${index}]`;
    const missing =
      judge(credential['value'], `${at}.value`) ??
      (credential['secretData'] === MASK
        ? { path: `${at}.secretData`, what: 'mask' as const, text: MASK }
        : undefined);
    if (missing !== undefined) taken.push(missing);
    return missing === undefined;
  });
  return credentials.length === objects(user['credentials']).length ? user : { ...user, credentials };
}

function cleanComponents(byType: unknown, path: string, taken: MissingSecret[]): Json | undefined {
  if (!isJsonObject(byType)) return undefined;
  return Object.fromEntries(
    Object.entries(byType).map(([type, list]) => [
      type,
      mapList(list, `${path}["${type}"]`, (component, at) => {
        const sub = cleanComponents(component['subComponents'], `${at}.subComponents`, taken);
        const config = isJsonObject(component['config'])
          ? cleanConfig(component['config'], type, `${at}.config`, taken)
          : undefined;
        return {
          ...component,
          ...(config === undefined ? {} : { config }),
          ...(sub === undefined ? {} : { subComponents: sub }),
        };
      }) ?? list,
    ]),
  );
}

function cleanConfig(config: Json, type: string, path: string, taken: MissingSecret[]): Json {
  const found = Object.entries(config).flatMap(([name, values]) => {
    if (!COMPONENT_SECRETS.has(name)) return [];
    const kept = type === KEY_PROVIDER_TYPE ? undefined : KEPT;
    const missing = (Array.isArray(values) ? values : [values]).flatMap((value, index) => {
      const one = judge(value, `${path}.${name}[${index}]`, kept);
      return one === undefined ? [] : [one];
    });
    taken.push(...missing);
    return missing.length === 0 ? [] : [name];
  });
  if (found.length === 0) return config;
  const gone = new Set(type === KEY_PROVIDER_TYPE ? [...COMPONENT_SECRETS, ...KEY_PUBLIC] : found);
  return Object.fromEntries(Object.entries(config).filter(([name]) => !gone.has(name)));
}

function mapList(
  list: unknown,
  path: string,
  change: (entry: Json, path: string) => Json,
): readonly Json[] | undefined {
  if (!Array.isArray(list)) return undefined;
  return list.map((entry: unknown, index) =>
    isJsonObject(entry) ? change(entry, `${path}[${index}]`) : (entry as Json),
  );
}
