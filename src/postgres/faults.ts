import { type ErrorCode, IdkitError, systemErrorCode } from '../core/index.ts';

/** SQLSTATE of an error that the server sent (PostgreSQL documentation, appendix A). */
export function sqlState(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : undefined;
}

/**
 * The loser of a race: run again from its start it sees the winner. Serialization failure, deadlock, unique and
 * foreign key violation.
 */
export function isLostRace(error: unknown): boolean {
  return ['40001', '40P01', '23505', '23503'].includes(sqlState(error) ?? '');
}

/** A prepared plan that a migration of another replica has made stale; a new connection plans anew. */
export function isStalePlan(error: unknown): boolean {
  return sqlState(error) === '0A000' && /cached plan/.test(String((error as Error).message));
}

/** What callers are told of a database that is away. */
export function isUnreachable(error: unknown): boolean {
  return error instanceof IdkitError && error.code === 'IDKIT_UNREACHABLE';
}

/** The connection is gone or was never there, and another attempt may fare better. */
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

/** The database lets nobody in (`ALLOW_CONNECTIONS false`): a restore is putting another one in its place. */
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
/** What pg itself says, without a code. */
const LOST_TEXT =
  /^(Connection terminated|timeout expired|timeout exceeded when trying|Client has encountered a connection error|Client was closed|Query read timeout|the server takes no writes)/;

interface Meaning {
  code: ErrorCode;
  text: string;
  hint?: string;
}

/** Where a pooler hands the connection of one session to another. */
export const POOLER_HINT = 'a pooler in between must keep sessions; pgbouncer: pool_mode = session';

const BY_STATE: Readonly<Record<string, Meaning>> = {
  '28P01': {
    code: 'IDKIT_CREDENTIALS',
    text: 'refuses the password',
    hint: 'set IDKIT_DATABASE_PASSWORD, IDKIT_DATABASE_PASSWORD_FILE, or write it to ~/.pgpass (mode 0600)',
  },
  '28000': { code: 'IDKIT_CREDENTIALS', text: 'refuses the user', hint: 'see pg_hba.conf on the server' },
  '42501': { code: 'IDKIT_CREDENTIALS', text: 'does not let the user do this' },
  '3D000': { code: 'IDKIT_NOT_FOUND', text: 'has no such database', hint: 'make it with createdb' },
  '25006': {
    code: 'IDKIT_UNREACHABLE',
    text: 'takes no writes',
    hint: 'name every server of the cluster in the address: postgres://USER@HOST1,HOST2/NAME',
  },
  '53300': {
    code: 'IDKIT_UNREACHABLE',
    text: 'has no connection left',
    hint: 'raise max_connections on the server, or run fewer replicas',
  },
  '40001': { code: 'IDKIT_UNREACHABLE', text: 'let others go first again and again' },
  '40P01': { code: 'IDKIT_UNREACHABLE', text: 'let others go first again and again' },
  '53100': { code: 'IDKIT_NO_SPACE', text: 'has no room on its disk' },
  '53200': { code: 'IDKIT_UNREACHABLE', text: 'has no memory left' },
  '55P03': { code: 'IDKIT_UNREACHABLE', text: 'holds a lock for too long' },
  '57014': { code: 'IDKIT_UNREACHABLE', text: 'did not finish a statement in time' },
  '57P01': { code: 'IDKIT_UNREACHABLE', text: 'is being stopped' },
  '57P03': { code: 'IDKIT_UNREACHABLE', text: 'is starting or stopping' },
  '26000': { code: 'IDKIT_SETTING', text: 'forgets what a session prepared', hint: POOLER_HINT },
  '42P05': { code: 'IDKIT_SETTING', text: 'mixes up what sessions prepared', hint: POOLER_HINT },
  XX001: { code: 'IDKIT_DATABASE_DAMAGED', text: 'is damaged' },
  XX002: { code: 'IDKIT_DATABASE_DAMAGED', text: 'is damaged' },
};

/**
 * The catalogue's error for a fault of the server or the way to it; any other error as it is.
 *
 * @param place the address, for messages
 */
export function mapFault(error: unknown, place: string): unknown {
  if (error instanceof IdkitError) return error;
  const text = error instanceof Error ? error.message : String(error);
  if (isShut(error))
    return new IdkitError('IDKIT_LOCKED', `the database at ${place} lets nobody in: ${text}`, {
      cause: error,
      hints: ['a restore is at work on it, or was cut off: idkit restore --resume or --abort ends it'],
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
        hints: ['give the certificate of its authority: ?sslmode=verify-full&sslrootcert=FILE'],
      },
    );
  if (isScramFault(text))
    return new IdkitError(
      'IDKIT_PASSWORD_METHOD',
      `the database at ${place} does not prove that it knows the password: ${text}`,
      {
        cause: error,
        hints: ['look for what answers at this address instead of the server, before anything else is tried'],
      },
    );
  if (/SSL/.test(text) && sqlState(error) === undefined)
    return new IdkitError('IDKIT_UNREACHABLE', `no TLS connection to the database at ${place}: ${text}`, {
      cause: error,
    });
  if (/password must be a string/i.test(text))
    return new IdkitError(
      'IDKIT_CREDENTIALS',
      `the database at ${place} wants a password, and there is none`,
      {
        cause: error,
        hints: [BY_STATE['28P01']!.hint!],
      },
    );
  if (isConnectionLost(error))
    return new IdkitError(
      'IDKIT_UNREACHABLE',
      `the database at ${place} does not answer: ${text || systemErrorCode(error)}`,
      {
        cause: error,
      },
    );
  return error;
}

/** Of Node's and OpenSSL's checks of a server certificate. */
function isCertificateFault(error: unknown): boolean {
  const code = systemErrorCode(error) ?? '';
  return (
    code === 'ERR_TLS_CERT_ALTNAME_INVALID' ||
    /^(CERT_|UNABLE_TO_|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|HOSTNAME_MISMATCH|INVALID_)/.test(
      code,
    )
  );
}

/** Faults of an exchange that pg itself finds: a wrong proof of the server, too many rounds, a broken message. */
function isScramFault(text: string): boolean {
  return /^SASL: /.test(text) && !/password must be/.test(text);
}
