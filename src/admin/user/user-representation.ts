import type { Credential, User } from '../../model/index.ts';
import { defined, type Json } from '../representation/json.ts';

/** The fields of a user that no representation contains are not needed. */
type ShownUser = Omit<User, 'realmId' | 'roleIds' | 'groupIds'>;

/**
 * Returns a user's representation, as in the response to `GET …/users/{id}`, but without `access`. See
 * docs/keycloak/users.md#representation.
 */
export function userRepresentation(user: ShownUser, options: { totp: boolean }): Json {
  return {
    ...briefUserRepresentation(user),
    ...(Object.keys(user.attributes).length === 0 ? {} : { attributes: user.attributes }),
    totp: options.totp,
    disableableCredentialTypes: [],
    requiredActions: user.requiredActions,
    ...(user.kept['federationLink'] === undefined ? {} : { federationLink: user.kept['federationLink'] }),
    notBefore: user.notBefore,
  };
}

/** Returns a user's short representation, for lists with `briefRepresentation`. */
export function briefUserRepresentation(user: ShownUser): Json {
  return {
    ...defined({
      id: user.id,
      username: user.username,
      firstName: user.firstName,
      lastName: user.lastName,
      email: user.email,
    }),
    emailVerified: user.emailVerified,
    enabled: user.enabled,
    createdTimestamp: user.createdTimestamp,
  };
}

/** Returns a credential as the administrative API shows it, without its secret. */
export function credentialRepresentation(credential: Credential): Json {
  const { id, type, userLabel, createdDate, credentialData } = credential;
  return { ...defined({ id, type, userLabel }), createdDate, credentialData };
}

/** Returns a credential as an export contains it, with its secret. */
export function exportedCredential(credential: Credential): Json {
  const secretData = credential.secretData ?? credential.secrets['/secretData']?.reveal();
  return {
    ...defined({
      id: credential.id,
      type: credential.type,
      userLabel: credential.userLabel,
    }),
    createdDate: credential.createdDate,
    ...defined({ secretData }),
    credentialData: credential.credentialData,
    priority: credential.priority,
  };
}
