import type { Client, ProtocolMapper } from '../../model/index.ts';
import type { RealmConfiguration } from '../../store/index.ts';
import { resolveWebOrigins } from '../client/index.ts';
import { parseObject } from './claim-value.ts';
import { claimStep, type MapperStep, tokenRoles } from './mapper-run.ts';

/** `oidc-usersessionmodel-note-mapper`: writes a note of the session. The note `AUTH_TIME` is stored as `auth_time`. */
export function sessionNote(mapper: ProtocolMapper): MapperStep {
  const name = mapper.config['user.session.note'] ?? '';
  const lower = name.toLowerCase();
  return claimStep(mapper, ({ input: { notes } }) => {
    const key = [name, lower].find((one) => Object.hasOwn(notes, one));
    return key === undefined ? undefined : notes[key];
  });
}

/**
 * `oidc-acr-mapper`: writes the level of the login. If the client or the realm maps levels to names (`acr.loa.map`),
 * writes the name of the highest level that the login reached.
 */
export function acr(): MapperStep {
  return ({ input, claims }) => {
    const level = input.notes.acr ?? '1';
    claims.acr = levelName(input.configuration, input.client, level) ?? level;
  };
}

/** `oidc-amr-mapper`: writes the authentication methods, if the session names them. */
export function amr(mapper: ProtocolMapper): MapperStep {
  const listed: ProtocolMapper = {
    ...mapper,
    config: { 'claim.name': 'amr', ...mapper.config, multivalued: 'true' },
  };
  return claimStep(listed, ({ input }) => input.notes.amr?.split(' ').filter((word) => word !== ''));
}

/** `oidc-allowed-origins-mapper`: writes the client's web origins, if it has any. */
export function allowedOrigins(): MapperStep {
  return ({ input, claims }) => {
    const origins = resolveWebOrigins(input.client, input.baseUrl);
    if (origins.length > 0) claims['allowed-origins'] = origins;
  };
}

/** `oidc-audience-resolve-mapper`: adds every other client that owns a role of the token to the audience. */
export function audienceResolve(): MapperStep {
  return (run) => {
    for (const clientId of tokenRoles(run).clients.keys()) {
      if (clientId !== run.input.client.clientId) run.audience.add(clientId);
    }
  };
}

/** `oidc-audience-mapper`: adds a client or a custom name to the audience. */
export function audience(mapper: ProtocolMapper): MapperStep {
  const name = mapper.config['included.client.audience'] || mapper.config['included.custom.audience'];
  if (name === undefined || name === '') return () => {};
  return (run) => run.audience.add(name);
}

/** `oidc-hardcoded-claim-mapper`: writes a constant value. */
export function hardcodedClaim(mapper: ProtocolMapper): MapperStep {
  return claimStep(mapper, () => mapper.config['claim.value']);
}

/**
 * `oidc-nonce-backwards-compatible-mapper`: writes the request's nonce into every token, as Keycloak did before version
 * 24.
 */
export function nonce(): MapperStep {
  return ({ input, claims }) => {
    if (input.notes.nonce !== undefined) claims.nonce = input.notes.nonce;
  };
}

const levelMaps = new WeakMap<object, ReadonlyMap<string, number>>();

function levelName(configuration: RealmConfiguration, client: Client, level: string): string | undefined {
  if (!/^\d+$/.test(level)) return undefined;
  const own = levelMap(client.attributes);
  const levels = own.size > 0 ? own : levelMap(configuration.realm.settings.attributes);
  let best: { name: string; level: number } | undefined;
  for (const [name, mapped] of levels) {
    if (mapped <= Number(level) && mapped > (best?.level ?? 0)) best = { name, level: mapped };
  }
  return best?.name;
}

function levelMap(attributes: Readonly<Record<string, string>>): ReadonlyMap<string, number> {
  const known = levelMaps.get(attributes);
  if (known !== undefined) return known;
  const levels = new Map<string, number>();
  for (const [name, value] of Object.entries(parseObject(attributes['acr.loa.map']))) {
    // Converts only strings, because the conversion of an object can throw.
    const level = typeof value === 'string' ? Number(value) : value;
    if (typeof level === 'number' && Number.isInteger(level)) levels.set(name, level);
  }
  levelMaps.set(attributes, levels);
  return levels;
}
