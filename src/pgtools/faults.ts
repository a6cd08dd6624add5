import { type ErrorCode, IdkitError } from '../core/index.ts';
import type { ProgramEnd, ProgramName } from './programs/programs.ts';

interface Known {
  pattern: RegExp;
  code: ErrorCode;
  hints?: readonly string[];
}

/**
 * Maps the messages of servers and of libpq to idkit's errors. The messages are in the C locale and contain the
 * SQLSTATE if psql shows it.
 */
const KNOWN: readonly Known[] = [
  {
    pattern:
      /\b(28P01|28000)\b|password authentication failed|no password supplied|role "[^"]*" does not exist|no pg_hba\.conf entry|authentication failed for user/i,
    code: 'IDKIT_CREDENTIALS',
    hints: [
      'set the password in IDKIT_DATABASE_PASSWORD, IDKIT_DATABASE_PASSWORD_FILE or libpq’s password file',
    ],
  },
  {
    pattern: /\b53100\b|No space left on device|could not extend file|could not write (to )?file/i,
    code: 'IDKIT_NO_SPACE',
    hints: ['free up space on the disk of the database server'],
  },
  {
    pattern: /\b53300\b|too many (clients|connections)|remaining connection slots/i,
    code: 'IDKIT_UNREACHABLE',
    hints: ['end some connections to the server, or raise max_connections'],
  },
  {
    pattern: /\b55P03\b|lock timeout/i,
    code: 'IDKIT_UNREACHABLE',
    hints: ['another session holds a lock on a table; pg_locks and pg_stat_activity show which session'],
  },
  {
    pattern: /\b57014\b.*timeout/i,
    code: 'IDKIT_UNREACHABLE',
    hints: ['the statement took too long; pg_stat_activity shows what keeps the server busy'],
  },
  {
    pattern: /aborting because of server version mismatch|server version mismatch/i,
    code: 'IDKIT_VERSION',
    hints: ['install a client of the server’s version or newer'],
  },
  {
    pattern: /\b25006\b|read-only transaction/i,
    code: 'IDKIT_UNREACHABLE',
    hints: ['name every server of the cluster in the address: postgres://USER@HOST1,HOST2/NAME'],
  },
  {
    // Messages of the database's container and of the engine, for programs that run inside the container.
    pattern:
      /\bcontainer \S+ is (not running|restarting|paused)|no such container|no container with|container state improper|error during connect|cannot connect to the docker daemon|was ended inside the container/i,
    code: 'IDKIT_UNREACHABLE',
    hints: ['idkit status shows whether its container is running; idkit up starts it'],
  },
  { pattern: /\b3D000\b|database "[^"]*" does not exist/i, code: 'IDKIT_NOT_FOUND' },
  {
    pattern: /\b42501\b|permission denied|must be (owner|superuser|a superuser)/i,
    code: 'IDKIT_CREDENTIALS',
  },
  {
    pattern:
      /\b(08\d{3}|57P0[1-5])\b|could not connect|connection to server|Connection refused|Connection timed out|timeout expired|could not translate host name|server closed the connection|terminating connection|the database system is|connection to .* lost|not currently accepting connections|SSL|certificate/i,
    code: 'IDKIT_UNREACHABLE',
  },
];

/** Matches the messages of a server that is starting or stopping, and will respond soon. */
export const SOON =
  /not yet accepting connections|the database system is (starting up|shutting down|in recovery)|Connection refused|server closed the connection|57P0[13]|could not connect/i;

/**
 * Returns whether the server may have rejected the password. While a client connects, the server sends no SQLSTATE and
 * uses the language of its `lc_messages`; only libpq's part of the message is English. If in doubt this returns true,
 * because another attempt with another password does no harm.
 */
export function mayRefusePassword({ code, message }: IdkitError): boolean {
  if (/authentication failed|\b28P01\b/.test(message)) return true;
  const isFromServer = /connection to server .* failed: [^\s:]+: {2}/.test(message);
  return isFromServer && code === 'IDKIT_UNREACHABLE' && !SOON.test(message);
}

/** Lines of psql's output that do not help the operator. */
const NOISE = /^(LOCATION:|psql:<stdin>:\d+: NOTICE|NOTICE:|WARNING:)/;

/**
 * Messages that repeat the values of a row, which may be passwords or keys. The text that remains still identifies the
 * row.
 */
const ROWS: readonly [RegExp, string][] = [
  [/^(CONTEXT: +COPY .*?, line \d+(?:, column [^:\n]+)?): "[\s\S]*?"(?=\n[A-Z ]+: |\s*$(?![\s\S]))/gm, '$1'],
  [/^(DETAIL: +Failing row contains) \([\s\S]*?\)\.?(?=\n[A-Z ]+: |\s*$(?![\s\S]))/gm, '$1 …'],
  [/(\binvalid input (?:syntax|value) for [^:\n]+): "[\s\S]*?"(?=\n[A-Z ]+: |\s*$(?![\s\S]))/g, '$1'],
];

/**
 * Returns the error that the operator sees after a program failed. It keeps the server's LINE, CONTEXT, DETAIL and HINT
 * without the values of rows, at most twelve lines.
 */
export function explainEnd(
  program: ProgramName,
  end: ProgramEnd,
  at: { database: string; location: string },
): IdkitError {
  if (end.unreached !== undefined) return end.unreached;
  const report = ROWS.reduce((text, [pattern, by]) => text.replace(pattern, by), end.stderr)
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => line !== '' && !NOISE.test(line.trim()))
    .slice(0, 12)
    .join('\n');
  const known = KNOWN.find(({ pattern }) => pattern.test(report));
  const how = end.fault === undefined ? `ended with code ${end.code ?? 'none'}` : `was ended by ${end.fault}`;
  return new IdkitError(
    known?.code ?? 'IDKIT_FAILED',
    `the database ${at.database} at ${at.location}: ${program} ${report === '' ? how : `reports: ${report}`}`,
    { hints: known?.hints ?? [] },
  );
}
