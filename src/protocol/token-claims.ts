import type { SignatureAlgorithm } from '../crypto/index.ts';
import { type Client, effectiveRoleIds, type User } from '../model/index.ts';
import type { RealmConfiguration } from '../store/index.ts';
import {
  type ClaimsInput,
  type GrantedScopes,
  narrowRoles,
  permittedScopes,
  roleOwners,
} from './claims/index.ts';
import type { ProtocolContext } from './context.ts';

/**
 * Gathers what claims are made of: the scopes that the user may use, the roles that the token may name, and the
 * clients that own them. Roles and attributes are those of now, also at a refresh (facts §3.4).
 */
export async function gatherClaims(
  ctx: ProtocolContext,
  configuration: RealmConfiguration,
  about: {
    client: Client;
    user: User;
    granted: GrantedScopes;
    notes: Readonly<Record<string, string>>;
  },
): Promise<ClaimsInput> {
  const { client, user, notes } = about;
  const effective = effectiveRoleIds(configuration, user);
  const granted = permittedScopes(configuration, about.granted, effective);
  const roleIds = narrowRoles(configuration, client, granted, effective);
  const clientsByUuid = new Map<string, Client>();
  const owners = [...roleOwners(configuration, roleIds)];
  const clients = await Promise.all(
    owners.map((id) => ctx.store.findClientByUuid(configuration.realm.id, id)),
  );
  for (const owner of clients) if (owner !== undefined) clientsByUuid.set(owner.id, owner);
  return { configuration, client, user, granted, roleIds, notes, clientsByUuid, baseUrl: ctx.baseUrl };
}

/** The algorithm that signs a client's tokens: its own, else the realm's. */
export function signatureAlgorithm(
  configuration: RealmConfiguration,
  client: Client,
  kind: 'access' | 'id',
): SignatureAlgorithm {
  const own = client.attributes[`${kind}.token.signed.response.alg`];
  return (own || configuration.realm.settings.defaultSignatureAlgorithm) as SignatureAlgorithm;
}
