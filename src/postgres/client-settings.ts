import type { CustomTypesConfig } from 'pg';
import { findPostgresPassword, type PostgresAddress, type PostgresHost } from '../config/index.ts';
import type { Secret } from '../core/index.ts';
import type { GuardedConfig } from './guarded-client.ts';
import { tlsOptions } from './tls-options.ts';

/** Milliseconds that a statement may run. */
const STATEMENT_MS = 30_000;

/** What a connection sets for itself once it is made; as parameters of its start poolers would refuse them. */
export const SESSION_SETTINGS: Readonly<Record<string, string>> = {
  statement_timeout: `${STATEMENT_MS}`,
  // Milliseconds that a statement may wait for another's lock.
  lock_timeout: '15000',
  // Milliseconds that a connection may stand still inside a transaction: this process has stopped.
  idle_in_transaction_session_timeout: '60000',
  // A server that has nothing to send notices that this machine is gone, so that its locks do not outlive it by hours.
  tcp_keepalives_idle: '10',
  tcp_keepalives_interval: '5',
  tcp_keepalives_count: '3',
  tcp_user_timeout: '30000',
};
/** Milliseconds after which an answer will not come any more: the network has swallowed it. */
const SILENCE_MS = STATEMENT_MS + 5_000;
/** Milliseconds that connecting may take. */
const CONNECT_MS = 5_000;

const toNumber = (text: string) => Number(text);
const toBytes = (text: string) => Buffer.from(text.slice(2), 'hex');
const toText = (text: string) => text;

/** Whole numbers as numbers, bytes as buffers, truth as such; all else, JSON too, as the text that it is. */
const TYPES: CustomTypesConfig = {
  getTypeParser: ((oid: number) => {
    if (oid === 20 || oid === 21 || oid === 23) return toNumber;
    if (oid === 17) return toBytes;
    if (oid === 16) return (text: string) => text === 't';
    return toText;
  }) as CustomTypesConfig['getTypeParser'],
};

/** How to connect to one server. */
export interface ClientSettings {
  address: PostgresAddress;
  /** Goes before the address's own and the password file. */
  password: Secret | undefined;
  /** Names this process in `pg_stat_activity`; at most 63 bytes. */
  applicationName: string;
}

/**
 * What a connection to one of the hosts is made with.
 *
 * @param tls whether the connection is encrypted
 * @throws IDKIT_SETTING where a certificate file cannot be read
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

/** Milliseconds that connecting may take: `connect_timeout` of the address, or a few seconds. */
export function connectMilliseconds({ connectTimeout }: PostgresAddress): number {
  return connectTimeout === undefined ? CONNECT_MS : connectTimeout * 1000;
}

/** Whether a connection begins encrypted. A socket of this machine never is (libpq does the same). */
function wantsTls(address: PostgresAddress, host: PostgresHost): boolean {
  return address.sslMode !== 'disable' && !host.host.startsWith('/');
}

/** In the order in which they are tried. */
export function tlsChoices(address: PostgresAddress, host: PostgresHost): readonly boolean[] {
  if (!wantsTls(address, host)) return [false];
  return address.sslMode === 'prefer' ? [true, false] : [true];
}

/** `prefer` goes on without TLS where the server has none. */
export function isWithoutTls(error: unknown): boolean {
  return error instanceof Error && /server does not support SSL/.test(error.message);
}
