import { isJsonObject } from '../../core/index.ts';
import { KEY_PROVIDER_TYPE } from '../../crypto/index.ts';
import { RepresentationFault } from './fault.ts';
import { type Json, objects } from './json.ts';
import { COMPONENT_SECRETS, MASK } from './secrets.ts';

/** A secret that a realm's representation does not hold: a mask, or a placeholder that was not resolved. */
export interface UnrealSecret {
  /** JSON path, for example `$.clients[0].secret`. */
  path: string;
  what: 'mask' | 'placeholder';
  /** The placeholder's text; it is not a secret. */
  text: string;
}

const CLIENT_SECRETS = ['secret', 'registrationAccessToken'] as const;
const CLIENT_ATTRIBUTE = 'client.secret.rotated';
/** What a key component is made of beside its secrets; new secrets make them new. */
const KEY_PUBLIC = ['certificate', 'kid'] as const;

/**
 * A representation without the secrets that are not real, and these. The fields are left out, so that a client gets a
 * new random secret and a key component new keys; a user whose password was masked gets none.
 */
export function takeOutUnrealSecrets(representation: Json): { rest: Json; taken: readonly UnrealSecret[] } {
  const taken: UnrealSecret[] = [];
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
 * Refuses a representation with a mask or a placeholder for a secret: everybody knows it.
 *
 * @throws RepresentationFault that names the first
 */
export function checkSecretsAreReal(representation: Json): void {
  const [first] = takeOutUnrealSecrets(representation).taken;
  if (first !== undefined) throw new UnrealSecretFault(first);
}

/** As `checkSecretsAreReal`, for one client. @throws RepresentationFault */
export function checkClientSecretsAreReal(client: Json, path: string): void {
  const taken: UnrealSecret[] = [];
  cleanClient(client, path, taken);
  if (taken[0] !== undefined) throw new UnrealSecretFault(taken[0]);
}

/** A client as it came back from a reader: masked secrets stay as they are (facts §8.5). */
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

/** A mask or an unresolved placeholder in the place of a secret. */
export class UnrealSecretFault extends RepresentationFault {
  constructor({ path, what, text }: UnrealSecret) {
    super(
      path,
      what === 'mask'
        ? `is the mask ${text} and not a secret`
        : `is the placeholder ${text}, which has no value, and not a secret`,
    );
  }
}

/** A reference into Keycloak's vault, which idkit does not read, for what idkit does not use. */
const KEPT = /^\$\{vault\.[^{}]+\}$/;
const PLACEHOLDER = /\$\{[^{}]*\}/;

function judge(value: unknown, path: string, kept?: RegExp): UnrealSecret | undefined {
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
  taken: UnrealSecret[],
  kept?: RegExp,
): Json {
  const found = names.flatMap((name) => {
    const unreal = judge(object[name], `${path}.${name}`, kept);
    if (unreal !== undefined) taken.push(unreal);
    return unreal === undefined ? [] : [name];
  });
  if (found.length === 0) return object;
  return Object.fromEntries(Object.entries(object).filter(([name]) => !found.includes(name)));
}

function cleanClient(client: Json, path: string, taken: UnrealSecret[]): Json {
  const rest = without(client, CLIENT_SECRETS, path, taken);
  const attributes = rest['attributes'];
  if (!isJsonObject(attributes)) return rest;
  const unreal = judge(attributes[CLIENT_ATTRIBUTE], `${path}.attributes["${CLIENT_ATTRIBUTE}"]`);
  if (unreal === undefined) return rest;
  taken.push(unreal);
  const { [CLIENT_ATTRIBUTE]: _, ...others } = attributes;
  return { ...rest, attributes: others };
}

function cleanUser(user: Json, path: string, taken: UnrealSecret[]): Json {
  if (user['credentials'] === undefined) return user;
  const credentials = objects(user['credentials']).filter((credential, index) => {
    const at = `${path}.credentials[${index}]`;
    const unreal =
      judge(credential['value'], `${at}.value`) ??
      (credential['secretData'] === MASK
        ? { path: `${at}.secretData`, what: 'mask' as const, text: MASK }
        : undefined);
    if (unreal !== undefined) taken.push(unreal);
    return unreal === undefined;
  });
  return credentials.length === objects(user['credentials']).length ? user : { ...user, credentials };
}

function cleanComponents(byType: unknown, path: string, taken: UnrealSecret[]): Json | undefined {
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

function cleanConfig(config: Json, type: string, path: string, taken: UnrealSecret[]): Json {
  const found = Object.entries(config).flatMap(([name, values]) => {
    if (!COMPONENT_SECRETS.has(name)) return [];
    const kept = type === KEY_PROVIDER_TYPE ? undefined : KEPT;
    const unreal = (Array.isArray(values) ? values : [values]).flatMap((value, index) => {
      const one = judge(value, `${path}.${name}[${index}]`, kept);
      return one === undefined ? [] : [one];
    });
    taken.push(...unreal);
    return unreal.length === 0 ? [] : [name];
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
