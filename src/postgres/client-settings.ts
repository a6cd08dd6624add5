import type { CustomTypesConfig } from 'pg';
import { findPostgresPassword, type PostgresAddress, type PostgresHost } from '../config/index.ts';
import type { Secret } from '../core/index.ts';
import type { GuardedConfig } from './guarded-client.ts';
import { tlsOptions } from './tls-options.ts';

/** Timeout of a statement in milliseconds. */
const STATEMENT_MS = 30_000;

/**
 * Settings of a new session. They are set after the connection is established, because a pooler rejects them as startup
 * parameters.
 */
export const SESSION_SETTINGS: Readonly<Record<string, string>> = {
  statement_timeout: `${STATEMENT_MS}`,
  // Timeout in milliseconds for waiting for a lock that another statement holds.
  lock_timeout: '15000',
  // Timeout in milliseconds for a pause between two statements of a transaction. After it, this process counts as hung.
  idle_in_transaction_session_timeout: '60000',
  // Compiling a long list's statement to machine code takes longer than reading a page of the list.
  jit: 'off',
  // With these settings, the server detects that this machine is down, even if it has nothing to send. Otherwise the
  // locks of this process would outlive it by hours.
  tcp_keepalives_idle: '10',
  tcp_keepalives_interval: '5',
  tcp_keepalives_count: '3',
  tcp_user_timeout: '30000',
};
/** Timeout in milliseconds for a query of an administrator. */
const READ_MS = 15_000;
/**
 * Sets up a session for slow reads. Each of them uses one processor of the server, so that logins and tokens find
 * another one.
 */
export const READ_SETTINGS = `SET statement_timeout = ${READ_MS}; SET max_parallel_workers_per_gather = 0`;
/** A result that has not arrived within this many milliseconds must have been lost in the network. */
const SILENCE_MS = STATEMENT_MS + 5_000;
/** Timeout of a connection attempt in milliseconds. */
const CONNECT_MS = 5_000;

const toNumber = (text: string) => Number(text);
const toBytes = (text: string) => Buffer.from(text.slice(2), 'hex');
const toText = (text: string) => text;

/** Parses integers as numbers, bytes as buffers and booleans as booleans. Other types, including JSON, remain text. */
const TYPES: CustomTypesConfig = {
  getTypeParser: ((oid: number) => {
    if (oid === 20 || oid === 21 || oid === 23) return toNumber;
    if (oid === 17) return toBytes;
    if (oid === 16) return (text: string) => text === 't';
    return toText;
  }) as CustomTypesConfig['getTypeParser'],
};

/** The server to connect to, and how to authenticate. */
export interface ClientSettings {
  address: PostgresAddress;
  /** The password. It takes precedence over those in the address and in the password file. */
  password: Secret | undefined;
  /** The name of this process in `pg_stat_activity`, at most 63 bytes. */
  applicationName: string;
}

/**
 * Returns the configuration for a connection to one of the hosts.
 *
 * @param tls whether to encrypt the connection
 * @throws IDKIT_SETTING if a certificate file cannot be read
 */
export function clientConfig(
  { address, password, applicationName }: ClientSettings,
  host: PostgresHost,
  tls: boolean,
): GuardedConfig & { pipeline: boolean } {
  const secret = password ?? address.password;
  return {
    host: host.host,
    port: host.port,
    user: address.user,
    database: address.database,
    password: () => (secret ?? findPostgresPassword(address, host))?.reveal() as string,
    ssl: tls ? tlsOptions(address, host) : false,
    requireAuth: address.requireAuth,
    application_name: applicationName,
    connectionTimeoutMillis: connectMilliseconds(address),
    query_timeout: SILENCE_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    pipeline: true,
    types: TYPES,
  };
}

/** Returns the timeout of a connection attempt in milliseconds: `connect_timeout` of the address, or the default. */
export function connectMilliseconds({ connectTimeout }: PostgresAddress): number {
  return connectTimeout === undefined ? CONNECT_MS : connectTimeout * 1000;
}

/**
 * Returns whether to encrypt the first attempt to connect. As in libpq, connections to a Unix socket are never
 * encrypted.
 */
function wantsTls(address: PostgresAddress, host: PostgresHost): boolean {
  return address.sslMode !== 'disable' && !host.host.startsWith('/');
}

/** Returns one value for each attempt to connect, in order: whether that attempt is encrypted. */
export function tlsChoices(address: PostgresAddress, host: PostgresHost): readonly boolean[] {
  if (!wantsTls(address, host)) return [false];
  return address.sslMode === 'prefer' ? [true, false] : [true];
}

/**
 * Returns whether the error means that the server does not support TLS. With `sslmode=prefer` the next attempt is not
 * encrypted.
 */
export function isWithoutTls(error: unknown): boolean {
  return error instanceof Error && /server does not support SSL/.test(error.message);
}
