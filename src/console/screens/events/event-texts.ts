/** Titles of the common events, by Keycloak's types. */
const TITLES: Readonly<Record<string, string>> = {
  LOGIN: 'Signed in',
  LOGIN_ERROR: 'Sign-in failed',
  LOGOUT: 'Signed out',
  LOGOUT_ERROR: 'Sign-out failed',
  CODE_TO_TOKEN: 'Got tokens after a sign-in',
  CODE_TO_TOKEN_ERROR: 'Got no tokens after a sign-in',
  REFRESH_TOKEN: 'Renewed tokens',
  REFRESH_TOKEN_ERROR: 'Did not renew tokens',
  CLIENT_LOGIN: 'Service signed in',
  CLIENT_LOGIN_ERROR: 'Sign-in of a service failed',
  REGISTER: 'Registered',
  REGISTER_ERROR: 'Registration failed',
  GRANT_CONSENT: 'Consented',
  UPDATE_CONSENT: 'Changed the consent',
  REVOKE_GRANT: 'Revoked access',
  UPDATE_PASSWORD: 'Changed the password',
  UPDATE_PASSWORD_ERROR: 'Password was not changed',
  UPDATE_CREDENTIAL: 'Changed a credential',
  REMOVE_CREDENTIAL: 'Removed a credential',
  UPDATE_TOTP: 'Set up one-time codes',
  REMOVE_TOTP: 'Removed one-time codes',
  UPDATE_EMAIL: 'Changed the e-mail address',
  UPDATE_PROFILE: 'Changed the profile',
  VERIFY_EMAIL: 'Verified the e-mail address',
  USER_DISABLED_BY_PERMANENT_LOCKOUT: 'Locked until an administrator unlocks',
  USER_DISABLED_BY_TEMPORARY_LOCKOUT: 'Locked for a time',
  TOKEN_EXCHANGE: 'Exchanged a token',
};

/** Returns text such as `Send reset password` for `SEND_RESET_PASSWORD`. */
function words(name: string): string {
  const text = name.toLowerCase().replaceAll(/[_.]/g, ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Returns what happened, for a type such as `LOGIN_ERROR`. */
export function eventTitle(type: string): string {
  const own = TITLES[type];
  if (own !== undefined) return own;
  return type.endsWith('_ERROR') ? `${words(type.slice(0, -'_ERROR'.length))}: failed` : words(type);
}

const ERRORS: Readonly<Record<string, string>> = {
  invalid_user_credentials: 'Wrong password or code',
  user_not_found: 'Unknown user',
  user_disabled: 'The user is disabled',
  user_temporarily_disabled: 'The user is locked',
  client_not_found: 'Unknown client',
  client_disabled: 'The client is disabled',
  invalid_client_credentials: 'Wrong secret of the client',
  invalid_redirect_uri: 'The redirect URI is not registered',
  invalid_token: 'The token is not valid',
  invalid_code: 'The code is not valid',
  expired_code: 'The code has expired',
  session_expired: 'The session has expired',
  user_session_not_found: 'The session has ended',
  not_allowed: 'Not allowed',
  rejected_by_user: 'The user refused',
};

/** Returns why it failed, for an error such as `invalid_user_credentials`. */
export function errorTitle(error: string): string {
  return ERRORS[error] ?? words(error);
}

const DETAILS: Readonly<Record<string, string>> = {
  auth_method: 'Protocol',
  grant_type: 'Grant',
  redirect_uri: 'Redirect URI',
  code_id: 'Id of the sign-in',
  token_id: 'Id of the token',
  refresh_token_id: 'Id of the refresh token',
  refresh_token_type: 'Kind of refresh token',
  updated_refresh_token_id: 'Id of the new refresh token',
  client_auth_method: 'Client authentication',
  remember_me: 'Stays signed in',
};

/** Returns the name of a detail of an event. */
export function detailTitle(name: string): string {
  return DETAILS[name] ?? words(name);
}

const OPERATIONS: Readonly<Record<string, string>> = {
  CREATE: 'Added',
  UPDATE: 'Changed',
  DELETE: 'Removed',
  ACTION: 'Did',
};

/** Returns what an administrator did, for an operation such as `CREATE`. */
export function operationTitle(operation: string): string {
  return OPERATIONS[operation] ?? words(operation);
}

/** What an administrator changed: a record, and the part of it. */
export interface Resource {
  kind: 'user' | 'client' | 'group' | 'role' | 'client-scope' | 'other';
  /** The id of the record; for a role of the realm and for others, its name. */
  id: string;
  /** What was changed of the record. Empty for the record itself. */
  part: string;
}

const KINDS: Readonly<Record<string, Resource['kind']>> = {
  users: 'user',
  clients: 'client',
  groups: 'group',
  'roles-by-id': 'role',
  'client-scopes': 'client-scope',
};

/** The lists of the scopes that new clients get. */
const GIVEN: Readonly<Record<string, string>> = {
  'default-default-client-scopes': 'new clients always get it',
  'default-optional-client-scopes': 'new clients get it on request',
};

/** The parts of a record, by the whole path below the record. The first pattern that fits counts. */
const PARTS: readonly (readonly [path: RegExp, part: string])[] = [
  [/^reset-password$/, 'password'],
  [/^logout$/, 'signed out everywhere'],
  [/^role-mappings\/realm$/, 'realm roles'],
  [/^role-mappings\/clients\/.*$/, 'client roles'],
  [/^scope-mappings\/.*$/, 'roles in scope'],
  [/^groups\/.*$/, 'group'],
  [/^children$/, 'subgroup'],
  [/^credentials\/.*$/, 'credential'],
  [/^consents\/.*$/, 'consent'],
  [/^client-secret$/, 'secret'],
  [/^roles\/(.+)\/composites.*$/, 'roles included in $1'],
  [/^roles\/(.+)$/, 'role $1'],
  [/^composites.*$/, 'included roles'],
  [/^protocol-mappers\/.*$/, 'mapper'],
  [/^default-client-scopes\/.*$/, 'scope that it always gets'],
  [/^optional-client-scopes\/.*$/, 'scope on request'],
];

/** What an administrator did to the realm as a whole or to a session, by the whole path. */
const OTHERS: readonly (readonly [path: RegExp, title: string])[] = [
  [/^$/, 'The realm'],
  [/^logout-all$/, 'All sessions'],
  [/^push-revocation$/, 'Revocation of tokens'],
  [/^sessions\/(.+)$/, 'Session $1'],
  [/^events\/config$/, 'Settings of events'],
  [/^events$/, 'Stored events of users'],
  [/^admin-events$/, 'Stored events of administrators'],
  [/^attack-detection\/brute-force\/users$/, 'Failed sign-ins of all users'],
  [/^attack-detection\/brute-force\/users\/(.+)$/, 'Failed sign-ins of user $1'],
  [/^components\/(.+)$/, 'Component $1'],
  [/^roles\/([^/]+)$/, 'Role $1'],
  [/^roles\/([^/]+)\/composites$/, 'Roles included in role $1'],
  [/^partialImport$/, 'Records of a file'],
];

/** Returns what a path names that is not the path of a record. An unknown path stays as it is. */
export function otherTitle(path: string): string {
  const named = OTHERS.find(([pattern]) => pattern.test(path));
  return named === undefined ? path : path.replace(...named);
}

/** Reads the path of an administrator's event, such as `users/3f…/reset-password`. */
export function readResource(path: string): Resource {
  const [area = '', id = '', ...rest] = path.split('/').map(decode);
  const given = GIVEN[area];
  if (given !== undefined && id !== '') return { kind: 'client-scope', id, part: given };
  const kind = KINDS[area];
  if (kind === undefined || id === '')
    return { kind: 'other', id: path.split('/').map(decode).join('/'), part: '' };
  const below = rest.join('/');
  const named = PARTS.find(([pattern]) => pattern.test(below));
  return { kind, id, part: named === undefined ? below : below.replace(...named) };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
