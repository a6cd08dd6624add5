import { createHash } from 'node:crypto';
import { Secret } from '../../../src/core/index.ts';
import type {
  AuthenticationSession,
  AuthorizationCode,
  Client,
  ClientScope,
  Component,
  Consent,
  Credential,
  Group,
  Realm,
  Role,
  TokenFamily,
  User,
  UserSession,
} from '../../../src/model/index.ts';
import { realmSettings } from '../../protocol/support/realm.ts';

/** Returns the SHA-256 hash of a text, in the form in which the store keeps refresh tokens. */
export function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

export function aRealm(more: Partial<Realm>): Realm {
  return {
    id: 'realm-1',
    name: 'acme',
    defaultRoleId: 'role-1',
    settings: realmSettings(),
    secrets: { '/smtpServer/password': new Secret('smtp-password') },
    ...more,
  };
}

export function aClient(more: Partial<Client>): Client {
  return {
    id: 'client-1',
    realmId: 'realm-1',
    clientId: 'app',
    surrogateAuthRequired: false,
    enabled: true,
    alwaysDisplayInConsole: false,
    clientAuthenticatorType: 'client-secret',
    redirectUris: [],
    webOrigins: [],
    notBefore: 0,
    bearerOnly: false,
    consentRequired: false,
    standardFlowEnabled: true,
    implicitFlowEnabled: false,
    directAccessGrantsEnabled: true,
    serviceAccountsEnabled: false,
    publicClient: false,
    frontchannelLogout: false,
    protocol: 'openid-connect',
    attributes: {},
    authenticationFlowBindingOverrides: {},
    fullScopeAllowed: true,
    nodeReRegistrationTimeout: -1,
    protocolMappers: [],
    defaultClientScopeIds: [],
    optionalClientScopeIds: [],
    scopeRoleIds: [],
    kept: {},
    secrets: { '/secret': new Secret('s3cret-of-app') },
    ...more,
  };
}

export function aClientScope(more: Partial<ClientScope>): ClientScope {
  return {
    id: 'scope-1',
    realmId: 'realm-1',
    name: 'profile',
    protocol: 'openid-connect',
    attributes: {},
    protocolMappers: [],
    scopeRoleIds: [],
    realmDefault: 'default',
    ...more,
  };
}

export function aRole(more: Partial<Role>): Role {
  return { id: 'role-1', realmId: 'realm-1', name: 'reader', attributes: {}, compositeIds: [], ...more };
}

export function aGroup(more: Partial<Group>): Group {
  return {
    id: 'group-1',
    realmId: 'realm-1',
    name: 'staff',
    attributes: {},
    roleIds: [],
    isDefault: false,
    ...more,
  };
}

export function aComponent(more: Partial<Component>): Component {
  return {
    id: 'component-1',
    realmId: 'realm-1',
    name: 'rsa',
    providerId: 'rsa-generated',
    providerType: 'org.keycloak.keys.KeyProvider',
    parentId: 'realm-1',
    config: { priority: ['100'] },
    secrets: { '/config/privateKey/0': new Secret('private-key') },
    ...more,
  };
}

export function aUser(more: Partial<User>): User {
  return {
    id: 'user-1',
    realmId: 'realm-1',
    username: 'alice',
    emailVerified: false,
    enabled: true,
    createdTimestamp: 1_800_000_000_000,
    attributes: {},
    requiredActions: [],
    notBefore: 0,
    roleIds: [],
    groupIds: [],
    kept: {},
    ...more,
  };
}

export function aCredential(more: Partial<Credential>): Credential {
  return {
    id: 'credential-1',
    userId: 'user-1',
    type: 'password',
    createdDate: 1_800_000_000_000,
    credentialData: '{"hashIterations":5,"algorithm":"argon2"}',
    secretData: '{"value":"hash","salt":"salt"}',
    secrets: {},
    priority: 10,
    ...more,
  };
}

export const START = 1_800_000_000;

export function aSession(more: Partial<UserSession>): UserSession {
  return {
    id: 'session-1',
    offline: false,
    realmId: 'realm-1',
    userId: 'user-1',
    startedAt: START,
    lastAccessAt: START,
    ipAddress: '192.0.2.1',
    rememberMe: false,
    notes: { acr: '1' },
    ...more,
  };
}

export function aFamily(more: Partial<TokenFamily>): TokenFamily {
  return {
    id: 'family-1',
    sessionId: 'session-1',
    offline: false,
    realmId: 'realm-1',
    clientUuid: 'client-1',
    userId: 'user-1',
    currentHash: hash('first'),
    parentUses: 0,
    scope: 'openid profile',
    startedAt: START,
    lastRefreshAt: START,
    notes: { nonce: 'n' },
    ...more,
  };
}

export function anAuthenticationSession(more: Partial<AuthenticationSession>): AuthenticationSession {
  return {
    id: 'tab-1',
    realmId: 'realm-1',
    clientUuid: 'client-1',
    browserHash: hash('browser'),
    revision: 0,
    startedAt: START,
    expiresAt: START + 1800,
    request: {
      redirectUri: 'https://app.example.test/cb',
      redirectUriSent: true,
      responseType: 'code',
      responseMode: 'query',
      scope: 'openid',
      state: 'state-1',
      prompt: [],
    },
    formCode: 'form-1',
    rememberMe: false,
    notes: { locale: 'de' },
    ...more,
  };
}

export function aCode(more: Partial<AuthorizationCode>): AuthorizationCode {
  return {
    hash: hash('code'),
    realmId: 'realm-1',
    clientUuid: 'client-1',
    userId: 'user-1',
    sessionId: 'session-1',
    familyId: 'family-1',
    issuedAt: START,
    expiresAt: START + 60,
    redirectUri: 'https://app.example.test/cb',
    scope: 'openid',
    nonce: 'n',
    codeChallenge: 'challenge',
    codeChallengeMethod: 'S256',
    claims: '{"userinfo":{"email":null}}',
    notes: { auth_time: String(START), acr: '1' },
    ...more,
  };
}

export function aConsent(more: Partial<Consent>): Consent {
  return {
    userId: 'user-1',
    clientUuid: 'client-1',
    scopeIds: ['scope-1'],
    createdDate: START * 1000,
    lastUpdatedDate: START * 1000,
    ...more,
  };
}
