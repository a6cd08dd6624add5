import { keptScopes, mapClaims, resolveScopes } from '../../protocol/claims/index.ts';
import { checkOrigin } from '../../protocol/client/index.ts';
import {
  type Answer,
  audienceOf,
  checkRealmEnabled,
  checkTransport,
  getRealm,
  type ProtocolContext,
  type ProtocolRequest,
  Refusal,
  textClaim,
} from '../../protocol/index.ts';
import {
  listProfileAttributes,
  listProfileFields,
  type ProfileAttribute,
  valuesOf,
} from '../../protocol/profile/index.ts';
import { type ActiveToken, gatherClaims, verifyAccessToken } from '../../protocol/token/index.ts';
import { ACCOUNT_CLIENT, rightsOf } from './rights.ts';

/** A user as in Keycloak's account API (`UserRepresentation`). keycloak-js requests it with `loadUserProfile`. */
export interface AccountRepresentation {
  id: string;
  username?: string;
  firstName?: string;
  lastName?: string;
  email?: string;
  emailVerified: boolean;
  /** Absent if the query contains `userProfileMetadata=false`. */
  userProfileMetadata?: { attributes: readonly AttributeMetadata[]; groups: readonly never[] };
  attributes: Readonly<Record<string, readonly string[]>>;
}

interface AttributeMetadata {
  name: string;
  displayName?: string;
  required: boolean;
  readOnly: boolean;
  validators: ProfileAttribute['validations'];
}

/** Attributes that are separate fields of the representation, outside `attributes`. */
const FIELDS = ['username', 'firstName', 'lastName', 'email'] as const;

/**
 * `GET /realms/{realm}/account` with a bearer token: returns the part of the user that the realm's profile lets users
 * see. The token must have the audience `account` and the role `manage-account` or `view-profile` of that client, as in
 * Keycloak.
 *
 * @param options `metadata`: adds the profile's rules for each attribute
 * @throws Refusal `realm-not-found`, `realm-not-enabled`, `https-required`, `invalid-origin`, `account-off`,
 *   `account-unauthorized`, `account-forbidden`
 */
export async function accountRepresentation(
  ctx: ProtocolContext,
  request: ProtocolRequest,
  options: { metadata: boolean },
): Promise<Answer<AccountRepresentation>> {
  const configuration = await getRealm(ctx, request.realm);
  checkTransport(configuration, request);
  checkRealmEnabled(configuration, 'account');
  const account = await ctx.store.findClient(configuration.realm.id, ACCOUNT_CLIENT);
  if (account?.enabled !== true) throw new Refusal('account-off');
  const token = /^bearer +(\S+)$/i.exec(request.authorization?.trim() ?? '')?.[1];
  const verified = token === undefined ? undefined : await verifyAccessToken(ctx, configuration, token);
  if (verified?.outcome !== 'active' || verified.user.serviceAccountClientUuid !== undefined)
    throw new Refusal('account-unauthorized', { allowOrigin: request.origin });
  const { user, client } = verified;
  const allowOrigin = checkOrigin(ctx, client, request.origin);
  const claims = await currentClaims(ctx, configuration, verified);
  if (!audienceOf(claims).includes(ACCOUNT_CLIENT))
    throw new Refusal('account-unauthorized', { allowOrigin });
  if (!rightsOf(rolesOf(claims)).see) throw new Refusal('account-forbidden', { allowOrigin });

  const fields = listProfileFields(configuration, user);
  const shown = new Map(fields.map(({ name, value }) => [name, value]));
  const own: Partial<Record<(typeof FIELDS)[number], string>> = {};
  for (const name of FIELDS) {
    const value = shown.get(name);
    if (value) own[name] = value;
  }
  const attributes = Object.fromEntries(
    fields
      .filter(({ name }) => !FIELDS.some((field) => field === name))
      .map(({ name }) => [name, valuesOf(user, name)] as const)
      .filter(([, values]) => values.length > 0),
  );
  const metadata = fields.map(({ name, displayName, required, readOnly }) => ({
    name,
    ...(displayName === undefined ? {} : { displayName }),
    required,
    readOnly,
    validators: listProfileAttributes(configuration).find((one) => one.name === name)?.validations ?? {},
  }));
  const body: AccountRepresentation = {
    id: user.id,
    ...own,
    emailVerified: user.emailVerified,
    ...(options.metadata ? { userProfileMetadata: { attributes: metadata, groups: [] } } : {}),
    attributes,
  };
  return { body, allowOrigin };
}

/** Returns the audience and the roles of the token. A lightweight token contains neither, so they are computed. */
async function currentClaims(
  ctx: ProtocolContext,
  configuration: Awaited<ReturnType<typeof getRealm>>,
  { claims, client, user, session }: ActiveToken,
): Promise<Readonly<Record<string, unknown>>> {
  if (claims['aud'] !== undefined && rolesOf(claims).size > 0) return claims;
  const scope = keptScopes(configuration, client, textClaim(claims, 'scope') ?? '');
  const scopes = resolveScopes(configuration, client, scope);
  if (scopes.outcome === 'invalid') return claims;
  const notes = session?.notes ?? {};
  const input = await gatherClaims(ctx, configuration, { client, user, granted: scopes.granted, notes });
  return mapClaims('introspection', input);
}

/** Reads the roles of the client `account` in `resource_access` (docs/keycloak/tokens.md#access-token). */
function rolesOf(claims: Readonly<Record<string, unknown>>): ReadonlySet<string> {
  const access = claims['resource_access'] as Record<string, { roles?: unknown }> | undefined;
  const roles =
    access !== undefined && Object.hasOwn(access, ACCOUNT_CLIENT) ? access[ACCOUNT_CLIENT]?.roles : [];
  return new Set(Array.isArray(roles) ? roles.filter((role) => typeof role === 'string') : []);
}
