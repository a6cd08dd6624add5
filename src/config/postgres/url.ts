import { userInfo } from 'node:os';
import { IdkitError, renderCount, Secret } from '../../core/index.ts';

/** How the client checks the server's certificate, with libpq's names (PostgreSQL documentation, 34.19.1). */
export const SSL_MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;
export type SslMode = (typeof SSL_MODES)[number];

/** The authentication methods, with libpq's names (PostgreSQL documentation, 34.1.2, `require_auth`). */
export const AUTH_METHODS = ['scram-sha-256', 'md5', 'none'] as const;
export type AuthMethod = (typeof AUTH_METHODS)[number];

/** One server of an address. A `host` that begins with `/` is the directory of a socket. */
export interface PostgresHost {
  host: string;
  port: number;
}

/** A parsed `postgres://` address. */
export interface PostgresAddress {
  /** The servers, in the order in which the client tries them. */
  hosts: readonly PostgresHost[];
  user: string;
  /** The password in the address. Undefined for the setting `database`, which must not contain a password. */
  password: Secret | undefined;
  database: string;
  sslMode: SslMode;
  /** The path of the root certificates, or `system` for those of the operating system. */
  sslRootCert: string | undefined;
  sslCert: string | undefined;
  sslKey: string | undefined;
  /** Timeout of one connection attempt in seconds. */
  connectTimeout: number | undefined;
  passFile: string | undefined;
  /** The methods that the server may use. `none` means that the server does not authenticate the client. */
  requireAuth: readonly AuthMethod[];
}

const PARAMETERS = [
  'host',
  'port',
  'user',
  'password',
  'dbname',
  'sslmode',
  'sslrootcert',
  'sslcert',
  'sslkey',
  'connect_timeout',
  'passfile',
  'require_auth',
  'target_session_attrs',
  'application_name',
] as const;
type Parameter = (typeof PARAMETERS)[number];

/**
 * Parses a connection address as libpq does: `postgres://user@h1:5432,h2/name?sslmode=verify-full`. Supports
 * percent-encoding, several hosts, and the directory of a socket (`?host=/run/postgresql`, or encoded); see PostgreSQL
 * documentation, 34.1.1.2.
 *
 * @throws IDKIT_SETTING with a message that never contains the password
 */
export function parsePostgresUrl(url: string): PostgresAddress {
  const parts = /^postgres(?:ql)?:\/\/(?:([^/?#]*)@)?([^/?#@]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/.exec(url);
  if (parts === null) throw wrong('it does not have the form postgres://USER@HOST/NAME');
  const [, userPart, hostPart = '', namePart = '', query = ''] = parts;
  const given = readParameters(query);
  const [user, password] = splitOnce(userPart ?? '', ':');
  const name = given.get('dbname') ?? decode(namePart);
  const account = given.get('user') ?? (decode(user) || userInfo().username);
  checkAttributes(given.get('target_session_attrs'));
  const secret = given.get('password') ?? (password === undefined ? '' : decode(password));
  return {
    hosts: readHosts(hostPart, given.get('host'), given.get('port')),
    user: account,
    password: secret === '' ? undefined : new Secret(secret),
    database: name === '' ? account : name,
    sslMode: readSslMode(given.get('sslmode')),
    sslRootCert: given.get('sslrootcert'),
    sslCert: given.get('sslcert'),
    sslKey: given.get('sslkey'),
    connectTimeout: readSeconds(given.get('connect_timeout')),
    passFile: given.get('passfile'),
    requireAuth: readMethods(given.get('require_auth')),
  };
}

/** Renders the address for messages as `h1:5432,h2/name`, without secrets. */
export function showPostgresAddress(address: Pick<PostgresAddress, 'hosts' | 'database'>): string {
  return `${address.hosts.map(showPostgresHost).join(',')}/${address.database}`;
}

/** Renders `host:port`, or the socket's path. */
export function showPostgresHost({ host, port }: PostgresHost): string {
  if (host.startsWith('/')) return `${host}/.s.PGSQL.${port}`;
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

function readParameters(query: string): ReadonlyMap<Parameter, string> {
  const given = new Map<Parameter, string>();
  for (const pair of query.split('&')) {
    if (pair === '') continue;
    const [name, value] = splitOnce(pair, '=');
    const known = PARAMETERS.find((parameter) => parameter === decode(name));
    if (known === undefined)
      throw wrong(`its parameter ${JSON.stringify(decode(name))} is not one of ${PARAMETERS.join(', ')}`);
    if (value === undefined) throw wrong(`its parameter ${known} has no value`);
    given.set(known, decode(value));
  }
  return given;
}

function readHosts(
  authority: string,
  hosts: string | undefined,
  ports: string | undefined,
): readonly PostgresHost[] {
  const entries = (authority === '' ? [''] : authority.split(',')).map((entry) => {
    const match = /^(?:\[([0-9A-Fa-f:.%]+)\]|([^:[\]]*))(?::(\d*))?$/.exec(entry);
    if (match === null) throw wrong(`its host ${JSON.stringify(decode(entry))} is malformed`);
    return { host: decode(match[1] ?? match[2] ?? ''), port: match[3] ?? '' };
  });
  const names = hosts?.split(',') ?? entries.map(({ host }) => host);
  const numbers = ports?.split(',') ?? (hosts === undefined ? entries.map(({ port }) => port) : ['']);
  if (numbers.length !== 1 && numbers.length !== names.length)
    throw wrong(`it has ${renderCount(names.length, 'host')} and ${renderCount(numbers.length, 'port')}`);
  return names.map((host, index) => ({
    host: host === '' ? 'localhost' : host,
    port: readPort(numbers.length === 1 ? numbers[0]! : numbers[index]!),
  }));
}

function readPort(text: string): number {
  if (text === '') return 5432;
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port < 1 || port > 65_535)
    throw wrong(`its port ${JSON.stringify(text)} is not a number from 1 to 65535`);
  return port;
}

function readSslMode(text: string | undefined): SslMode {
  if (text === undefined || text === 'allow') return 'prefer';
  const mode = SSL_MODES.find((known) => known === text);
  if (mode === undefined)
    throw wrong(`its sslmode ${JSON.stringify(text)} is not one of ${SSL_MODES.join(', ')}`);
  return mode;
}

function readSeconds(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,5}$/.test(text))
    throw wrong(`its connect_timeout ${JSON.stringify(text)} is not a number of seconds`);
  return Number(text) === 0 ? undefined : Number(text);
}

/**
 * Returns the methods that `require_auth` allows. Default: SCRAM, or no authentication. `md5` also allows SCRAM,
 * because the server chooses between them by how it stores the password, and a restore stores it for SCRAM. A password
 * in clear text is never allowed.
 */
function readMethods(text: string | undefined): readonly AuthMethod[] {
  if (text === undefined) return ['scram-sha-256', 'none'];
  const methods = text.split(',').map((name) => {
    const method = AUTH_METHODS.find((known) => known === name.trim());
    if (method !== undefined) return method;
    const why = name.trim() === 'password' ? 'would send the password in clear text' : 'is not known';
    throw wrong(
      `its require_auth ${JSON.stringify(text)} contains ${JSON.stringify(name)}, which ${why}; allowed: ${AUTH_METHODS.join(', ')}`,
    );
  });
  return [...new Set([...methods, ...(methods.includes('md5') ? (['scram-sha-256'] as const) : [])])];
}

/** Rejects a `target_session_attrs` that selects read-only servers, because the service writes. */
function checkAttributes(text: string | undefined): void {
  if (text !== undefined && !['any', 'read-write', 'primary'].includes(text))
    throw wrong(`its target_session_attrs ${JSON.stringify(text)} selects servers that reject writes`);
}

function splitOnce(text: string, separator: string): [string, string | undefined] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

function decode(text: string): string {
  let decoded: string;
  try {
    decoded = decodeURIComponent(text);
  } catch (cause) {
    throw wrong('its percent-encoding is invalid', cause);
  }
  if (decoded.includes('\0')) throw wrong('it contains a NUL byte');
  return decoded;
}

function wrong(why: string, cause?: unknown): IdkitError {
  return new IdkitError('IDKIT_SETTING', `the database's postgres:// address cannot be used: ${why}`, {
    hints: ['write postgres://USER@HOST[:PORT][,HOST…]/NAME[?sslmode=verify-full&sslrootcert=FILE]'],
    ...(cause === undefined ? {} : { cause }),
  });
}
