import type { Duplex } from 'node:stream';
import {
  type PostgresAddress,
  type PostgresHost,
  showPostgresAddress,
  showPostgresHost,
} from '../config/index.ts';
import { IdkitError, type Secret } from '../core/index.ts';
import { clientConfig, isWithoutTls, tlsChoices } from './client-settings.ts';
import { isConnectionLost, mapFault, sqlState } from './faults.ts';
import { GuardedClient } from './guarded-client.ts';

/** What a client asks for with its first message: `user`, `database`, `application_name` … */
export type Startup = Readonly<Record<string, string>>;

/** A connection that the server has let in, with nothing asked on it yet. */
export interface Wire {
  /** Carries the protocol's messages in both directions from now on. */
  stream: Duplex;
  host: PostgresHost;
  /** What the server told while it let the client in: its settings, and the key that cancels a query. */
  parameters: ReadonlyMap<string, string>;
  processId: number;
  secretKey: number;
}

/** Who connects, and what the server may be told. */
export interface WireOptions {
  address: PostgresAddress;
  /** Goes before the address's own and the password file. */
  password: Secret | undefined;
  startup: Startup;
}

/**
 * Connects to the first of the hosts that lets the client in, of several to one that takes writes, and gives the
 * password to none of them but by an allowed method.
 *
 * @throws what the server answered as it is (with its `code`), else the catalogue's error: IDKIT_PASSWORD_METHOD,
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

/** pg's client as a stranger to a stream of another's messages. */
interface Inside {
  connection: {
    stream: Duplex;
    on(event: string, listener: (message: never) => void): void;
  };
  getStartupConf(): Startup;
  processID: number;
  secretKey: number;
}

async function connect(options: WireOptions, host: PostgresHost, tls: boolean): Promise<Wire> {
  const { address, password, startup } = options;
  const settings = { address, password, applicationName: startup['application_name'] ?? 'idkit' };
  const client = new GuardedClient(clientConfig(settings, host, tls));
  const inside = client as unknown as Inside;
  // pg names the encoding by itself, and it is the same: UTF8.
  const { client_encoding: _encoding, ...parameters } = startup;
  inside.getStartupConf = () => parameters;
  const told = new Map<string, string>();
  inside.connection.on('parameterStatus', (message: { parameterName: string; parameterValue: string }) =>
    told.set(message.parameterName, message.parameterValue),
  );
  // A connection that breaks is known by its stream.
  client.on('error', () => undefined);
  try {
    await client.connect();
    if (address.hosts.length > 1) await checkTakesWrites(client, host);
  } catch (error) {
    client.end().catch(() => undefined);
    throw error;
  }
  const { stream } = inside.connection;
  // From here on the messages are the program's to read.
  stream.removeAllListeners('data');
  stream.pause();
  return { stream, host, parameters: told, processId: inside.processID, secretKey: inside.secretKey };
}

async function checkTakesWrites(client: GuardedClient, host: PostgresHost): Promise<void> {
  const { rows } = await client.query<{ standby: boolean }>(
    `SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::bool AS standby`,
  );
  if (rows[0]!.standby)
    throw new IdkitError(
      'IDKIT_UNREACHABLE',
      `the database server at ${showPostgresHost(host)} takes no writes`,
    );
}
