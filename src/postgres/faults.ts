import { type ErrorCode, IdkitError, systemErrorCode } from '../core/index.ts';

/** Returns the SQLSTATE of an error that the server sent (PostgreSQL documentation, appendix A). */
export function sqlState(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : undefined;
}

/**
 * Returns whether the statement conflicted with another transaction: a serialization failure, a deadlock, or a
 * violation of a unique or foreign key. A retry sees the result of the other transaction.
 */
export function isLostRace(error: unknown): boolean {
  return ['40001', '40P01', '23505', '23503'].includes(sqlState(error) ?? '');
}

/** Returns whether a migration by another replica invalidated a prepared plan. A new connection creates a new plan. */
export function isStalePlan(error: unknown): boolean {
  return sqlState(error) === '0A000' && /cached plan/.test(String((error as Error).message));
}

/** Returns whether an error means that the database is unavailable. */
export function isUnreachable(error: unknown): boolean {
  return error instanceof IdkitError && error.code === 'IDKIT_UNREACHABLE';
}

/** Returns whether the connection was lost or could not be established. Another attempt may then succeed. */
export function isConnectionLost(error: unknown): boolean {
  const state = sqlState(error);
  if (state !== undefined)
    return (
      state.startsWith('08') ||
      ['57P01', '57P02', '57P03', '57P05', '25006', '53300', '25P03'].includes(state)
    );
  const system = systemErrorCode(error);
  if (system !== undefined && LOST_SOCKET.has(system)) return true;
  return error instanceof Error && LOST_TEXT.test(error.message);
}

/**
 * Returns whether the database accepts no connections (`ALLOW_CONNECTIONS false`), which means that a restore is
 * replacing it.
 */
function isShut(error: unknown): boolean {
  const { routine } = error as { routine?: unknown };
  return sqlState(error) === '55000' && routine === 'CheckMyDatabase';
}

const LOST_SOCKET = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENETDOWN',
  'EHOSTDOWN',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT',
]);
/** Error messages of the driver pg, which have no code. */
const LOST_TEXT =
  /^(Connection terminated|timeout expired|timeout exceeded when trying|Client has encountered a connection error|Client was closed|Query read timeout|the server accepts no writes)/;

interface Meaning {
  code: ErrorCode;
  text: string;
  hint?: string;
}

/** The hint for a pooler that moves a connection from one session to another. */
export const POOLER_HINT =
  'a pooler between idkit and the server must keep sessions; for pgbouncer set pool_mode = session';

const PASSWORD_HINT =
  'set IDKIT_DATABASE_PASSWORD or IDKIT_DATABASE_PASSWORD_FILE, or write the password to ~/.pgpass (mode 0600)';

const BY_STATE: Readonly<Record<string, Meaning>> = {
  '28P01': {
    code: 'IDKIT_CREDENTIALS',
    text: 'rejects the password',
    hint: PASSWORD_HINT,
  },
  '28000': { code: 'IDKIT_CREDENTIALS', text: 'rejects the user', hint: 'check pg_hba.conf on the server' },
  '42501': { code: 'IDKIT_CREDENTIALS', text: 'does not permit the user to do this' },
  '3D000': { code: 'IDKIT_NOT_FOUND', text: 'does not exist', hint: 'create it with createdb' },
  '25006': {
    code: 'IDKIT_UNREACHABLE',
    text: 'accepts no writes',
    hint: 'name every server of the cluster in the address: postgres://USER@HOST1,HOST2/NAME',
  },
  '53300': {
    code: 'IDKIT_UNREACHABLE',
    text: 'has no free connections',
    hint: 'raise max_connections on the server, or run fewer replicas',
  },
  '40001': {
    code: 'IDKIT_UNREACHABLE',
    text: 'rolled back every attempt of the transaction because of conflicts with other transactions',
  },
  '40P01': {
    code: 'IDKIT_UNREACHABLE',
    text: 'rolled back every attempt of the transaction because of conflicts with other transactions',
  },
  '53100': { code: 'IDKIT_NO_SPACE', text: 'has no space on its disk' },
  '53200': { code: 'IDKIT_UNREACHABLE', text: 'has no free memory' },
  '55P03': { code: 'IDKIT_UNREACHABLE', text: 'held a lock for too long' },
  '57014': { code: 'IDKIT_UNREACHABLE', text: 'did not finish a statement in time' },
  '57P01': { code: 'IDKIT_UNREACHABLE', text: 'is stopping' },
  '57P03': { code: 'IDKIT_UNREACHABLE', text: 'is starting or stopping' },
  '26000': { code: 'IDKIT_SETTING', text: 'lost the prepared statements of a session', hint: POOLER_HINT },
  '42P05': { code: 'IDKIT_SETTING', text: 'mixed up the prepared statements of sessions', hint: POOLER_HINT },
  XX001: { code: 'IDKIT_DATABASE_DAMAGED', text: 'is damaged' },
  XX002: { code: 'IDKIT_DATABASE_DAMAGED', text: 'is damaged' },
};

/**
 * Returns the catalogue's error for an error of the server or of the network. Returns any other error unchanged.
 *
 * @param place the address, for messages
 */
export function mapFault(error: unknown, place: string): unknown {
  if (error instanceof IdkitError) return error;
  const text = error instanceof Error ? error.message : String(error);
  if (isShut(error))
    return new IdkitError('IDKIT_LOCKED', `the database at ${place} accepts no connections: ${text}`, {
      cause: error,
      hints: ['a restore is running or was interrupted: finish it with idkit restore --resume or --abort'],
    });
  const meaning = BY_STATE[sqlState(error) ?? ''];
  if (meaning !== undefined)
    return new IdkitError(meaning.code, `the database at ${place} ${meaning.text}: ${text}`, {
      cause: error,
      ...(meaning.hint === undefined ? {} : { hints: [meaning.hint] }),
    });
  if (isCertificateFault(error))
    return new IdkitError(
      'IDKIT_UNREACHABLE',
      `the certificate of the database at ${place} is not trusted: ${text}`,
      {
        cause: error,
        hints: ['name the file of its CA certificate in the address: ?sslmode=verify-full&sslrootcert=FILE'],
      },
    );
  if (isScramFault(text))
    return new IdkitError(
      'IDKIT_PASSWORD_METHOD',
      `the database at ${place} did not prove that it knows the password: ${text}`,
      {
        cause: error,
        hints: ['before you continue, find out which program responds at this address instead of the server'],
      },
    );
  if (/SSL/.test(text) && sqlState(error) === undefined)
    return new IdkitError(
      'IDKIT_UNREACHABLE',
      `the TLS connection to the database at ${place} failed: ${text}`,
      {
        cause: error,
      },
    );
  if (/password must be a string/i.test(text))
    return new IdkitError(
      'IDKIT_CREDENTIALS',
      `the database at ${place} requires a password, but none is set`,
      {
        cause: error,
        hints: [PASSWORD_HINT],
      },
    );
  if (isConnectionLost(error))
    return new IdkitError(
      'IDKIT_UNREACHABLE',
      `the database at ${place} does not respond: ${text || systemErrorCode(error)}`,
      {
        cause: error,
      },
    );
  return error;
}

/** Returns whether Node.js or OpenSSL rejected the server's certificate. */
function isCertificateFault(error: unknown): boolean {
  const code = systemErrorCode(error) ?? '';
  return (
    code === 'ERR_TLS_CERT_ALTNAME_INVALID' ||
    /^(CERT_|UNABLE_TO_|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|HOSTNAME_MISMATCH|INVALID_)/.test(
      code,
    )
  );
}

/**
 * Returns whether pg rejected the SCRAM exchange: the server's proof is wrong, it requests too many rounds, or its
 * message is malformed.
 */
function isScramFault(text: string): boolean {
  return /^SASL: /.test(text) && !/password must be/.test(text);
}

/**
 * Returns the first row of a statement that must return one.
 *
 * @throws IDKIT_BUG if there is no row
 */
export function oneRow<R>({ rows }: { rows: readonly R[] }): R {
  const [row] = rows;
  if (row === undefined) throw new IdkitError('IDKIT_BUG', 'a statement returned no row');
  return row;
}

/** Returns whether the error means that no connection of the pool became free in time. */
export function isBusyPool(error: unknown): boolean {
  return error instanceof Error && /^timeout exceeded when trying/.test(error.message);
}
