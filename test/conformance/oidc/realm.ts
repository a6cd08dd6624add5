/** A client of a certification run, with its representation for the administrative API. */
export interface TestClient {
  clientId: string;
  secret: string;
  redirectUri: string;
  representation: Readonly<Record<string, unknown>>;
}

/** The password of every user. */
export const PASSWORD = 'Correct-Horse-1';

const credentials = [{ type: 'password', value: PASSWORD }];

/** A user with every standard claim (Core §5.1). */
export const ALICE = {
  username: 'alice',
  enabled: true,
  realmRoles: ['offline_access'],
  email: 'alice@example.test',
  emailVerified: true,
  firstName: 'Alice',
  lastName: 'Archer',
  credentials,
  attributes: {
    middleName: ['Ada'],
    nickname: ['Ally'],
    profile: ['https://alice.example.test/'],
    picture: ['https://alice.example.test/picture.png'],
    website: ['https://alice.example.test/blog'],
    gender: ['female'],
    birthdate: ['2000-02-29'],
    zoneinfo: ['Europe/Berlin'],
    locale: ['en'],
    updatedAt: ['1790000000'],
    phoneNumber: ['+49 30 123456'],
    phoneNumberVerified: ['true'],
    street: ['Unter den Linden 1'],
    locality: ['Berlin'],
    region: ['Berlin'],
    postal_code: ['10117'],
    country: ['Germany'],
    formatted: ['Unter den Linden 1, 10117 Berlin'],
  },
};

/** A user with a name and few other claims. */
export const BOB = {
  username: 'bob',
  enabled: true,
  realmRoles: ['offline_access'],
  email: 'bob@example.test',
  firstName: 'Bob',
  lastName: 'Baker',
  credentials,
  attributes: { nickname: [''], locality: [''] },
};

/**
 * Client settings with which a certification run has no warnings: lean ID tokens, without `typ` or an e-mail, and
 * support for the parameter `claims`.
 */
export const WITHOUT_WARNINGS = {
  attributes: { 'idkit.lean.id.token': 'true' },
  protocolMappers: [
    {
      name: 'claims parameter',
      protocol: 'openid-connect',
      protocolMapper: 'oidc-claims-param-token-mapper',
      config: { 'id.token.claim': 'true', 'userinfo.token.claim': 'true' },
    },
  ],
};

/** Builds a confidential client of the code flow that gets only the scopes that it requests. */
export function clientOf(
  clientId: string,
  origin: string,
  changes: Readonly<Record<string, unknown>> = {},
): TestClient {
  const secret = String(changes['secret'] ?? `the secret of ${clientId}`);
  const redirectUri = `${origin}/${clientId}/cb`;
  const { attributes, ...others } = changes;
  return {
    clientId,
    secret,
    redirectUri,
    representation: {
      clientId,
      enabled: true,
      publicClient: false,
      secret,
      standardFlowEnabled: true,
      redirectUris: [redirectUri],
      webOrigins: ['+'],
      defaultClientScopes: ['web-origins', 'acr', 'basic', 'roles'],
      optionalClientScopes: ['profile', 'email', 'address', 'phone', 'offline_access'],
      ...WITHOUT_WARNINGS,
      ...others,
      attributes: { ...WITHOUT_WARNINGS.attributes, ...(attributes as Record<string, string> | undefined) },
    },
  };
}
