import type { Duplex } from 'node:stream';
import {
  type PostgresAddress,
  type PostgresHost,
  showPostgresAddress,
  showPostgresHost,
} from '../config/index.ts';
import { IdkitError, type Secret } from '../core/index.ts';
import { clientConfig, connectMilliseconds, isWithoutTls, tlsChoices } from './client-settings.ts';
import { isConnectionLost, mapFault, oneRow, sqlState } from './faults.ts';
import { GuardedClient } from './guarded-client.ts';
import { checkSession } from './pooler.ts';

/** The parameters in a client's first message: `user`, `database`, `application_name` and others. */
export type Startup = Readonly<Record<string, string>>;

/** An authenticated connection, whose session has its default settings. */
export interface Wire {
  /** The stream of protocol messages in both directions. */
  stream: Duplex;
  host: PostgresHost;
  /** The settings that the server reported during authentication. */
  parameters: ReadonlyMap<string, string>;
  processId: number;
  secretKey: number;
}

/** The server's address, and the parameters that it receives. */
export interface WireOptions {
  address: PostgresAddress;
  /** The password. It takes precedence over those in the address and in the password file. */
  password: Secret | undefined;
  startup: Startup;
}

/**
 * Connects to the first host that admits the client. If the address names several hosts, the host must also accept
 * writes. A host receives the password only with a permitted method. A pooler must reserve a connection of the server
 * for the session, because the other program changes its settings.
 *
 * @throws the server's own error (with its `code`) unchanged, or an error of the catalogue: IDKIT_PASSWORD_METHOD,
 *   IDKIT_UNREACHABLE, IDKIT_CREDENTIALS, IDKIT_SETTING
 */
export async function openWire(options: WireOptions): Promise<Wire> {
  const { address } = options;
  const faults: unknown[] = [];
  for (const host of address.hosts) {
    for (const tls of tlsChoices(address, host)) {
      try {
        return await connect(options, host, tls);
      } catch (error) {
        if (tls && isWithoutTls(error) && address.sslMode === 'prefer') continue;
        faults.push(error);
        break;
      }
    }
  }
  const worst = faults.find((fault) => !isConnectionLost(fault)) ?? faults.find(sqlState) ?? faults[0];
  throw sqlState(worst) === undefined ? mapFault(worst, showPostgresAddress(address)) : worst;
}

async function connect(options: WireOptions, host: PostgresHost, tls: boolean): Promise<Wire> {
  const client = makeClient(options, host, tls);
  const reported = new Map<string, string>();
  client.connection.on('parameterStatus', (message) =>
    reported.set(message.parameterName, message.parameterValue),
  );
  try {
    await client.connect();
    await checkSessionOnce(client, options, host, tls);
    if (options.address.hosts.length > 1) await checkTakesWrites(client, host);
  } catch (error) {
    client.end().catch(() => undefined);
    throw error;
  }
  const { stream } = client.connection;
  // Stops reading, because from here on the other program reads the server's messages.
  stream.removeAllListeners('data');
  stream.pause();
  return { stream, host, parameters: reported, processId: client.processID, secretKey: client.secretKey };
}

function makeClient({ address, password, startup }: WireOptions, host: PostgresHost, tls: boolean) {
  const settings = { address, password, applicationName: startup['application_name'] ?? 'idkit' };
  const client = new GuardedClient(clientConfig(settings, host, tls));
  // Removes client_encoding, because pg itself sends it, with the same value (UTF8).
  const { client_encoding: _encoding, ...parameters } = startup;
  client.getStartupConf = () => parameters;
  // Ignores the error event, because the events of the stream report a broken connection.
  client.on('error', () => undefined);
  return client;
}

/**
 * The hosts, databases and users whose sessions were checked. A pooler may have another mode for each database and user.
 */
const checked = new Set<string>();

/**
 * Checks this process's first session with a database of a host as a user. Later sessions of these skip the check.
 *
 * @throws the errors of `checkSession`
 */
async function checkSessionOnce(
  client: GuardedClient,
  options: WireOptions,
  host: PostgresHost,
  tls: boolean,
): Promise<void> {
  const { address, startup } = options;
  const key = JSON.stringify([host.host, host.port, startup['database'], startup['user']]);
  if (checked.has(key)) return;
  await checkSession(client, {
    place: showPostgresHost(host),
    within: connectMilliseconds(address),
    open: async () => {
      const other = makeClient(options, host, tls);
      await other.connect();
      return other;
    },
  });
  checked.add(key);
}

async function checkTakesWrites(client: GuardedClient, host: PostgresHost): Promise<void> {
  const result = await client.query<{ standby: boolean }>(
    `SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::bool AS standby`,
  );
  if (oneRow(result).standby)
    throw new IdkitError(
      'IDKIT_UNREACHABLE',
      `the database server at ${showPostgresHost(host)} accepts no writes`,
    );
}
