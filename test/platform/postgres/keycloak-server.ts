import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { createDumpInspector, type DumpReport } from '../../../src/backupset/index.ts';
import { parsePostgresUrl } from '../../../src/config/index.ts';
import { Secret } from '../../../src/core/index.ts';
import { openLocalPrograms } from '../../../src/pgtools/programs/local-programs.ts';
import type { DumpSummary } from '../../../src/platform/index.ts';
import { PostgresDatabase, type PostgresDatabaseOptions } from '../../../src/platform/postgres/database.ts';
import { type PostgresServer, startPostgres } from '../../store/postgres-server.ts';
import { waitUntil } from '../../wait-until.ts';

/** The dump of a real Keycloak 26.7.3, as pg_dump wrote it. */
export const KEYCLOAK_SQL = gunzipSync(
  readFileSync(
    new URL('../../fixtures/keycloak/exports/20261101_020000/keycloak-db.sql.gz', import.meta.url),
  ),
);

/** The realms in `KEYCLOAK_SQL`, with the number of their users. */
export const KEYCLOAK_REALMS = [
  { realm: 'acme', users: 13 },
  { realm: 'globex', users: 1000 },
  { realm: 'initech', users: 0 },
  { realm: 'master', users: 1 },
];

export const never = new AbortController().signal;
const PASSWORD = 'Keycloak-Role-1';

/** A server with Keycloak's database, owned by its role. */
export interface KeycloakServer extends PostgresServer {
  /** Runs SQL as the superuser and returns psql's output. */
  sql(database: string, text: string): string;
  /**
   * Opens the database as role `keycloak`.
   *
   * @param change replaces options
   */
  open(change?: Partial<PostgresDatabaseOptions> & { url?: string }): PostgresDatabase;
  /** Returns the names of all databases except the server's own. */
  databases(): readonly string[];
  /** Returns the application names of the other sessions. */
  clients(): readonly string[];
  url: string;
}

/** Starts a server with Keycloak's role and database. With `empty`, it contains only the role. */
export async function startKeycloakServer(
  t: Pick<TestContext, 'after'>,
  options: { empty?: boolean; settings?: Readonly<Record<string, string>> } = {},
): Promise<KeycloakServer> {
  const server = await startPostgres(t, options.settings === undefined ? {} : { settings: options.settings });
  const psql = (database: string, input: string | Uint8Array) =>
    execFileSync(
      join(server.programs, 'psql'),
      [
        '-XAtq',
        '-v',
        'ON_ERROR_STOP=1',
        '-h',
        '127.0.0.1',
        '-p',
        String(server.port),
        '-U',
        'postgres',
        '-d',
        database,
      ],
      {
        input,
        encoding: 'utf8',
        env: { PGPASSWORD: server.password },
        stdio: ['pipe', 'pipe', 'pipe'],
        maxBuffer: 64 * 1024 * 1024,
      },
    ).trim();
  psql('postgres', `CREATE ROLE keycloak LOGIN CREATEDB PASSWORD '${PASSWORD}'`);
  if (options.empty !== true) {
    psql('postgres', 'CREATE DATABASE keycloak OWNER keycloak TEMPLATE template0');
    psql('keycloak', KEYCLOAK_SQL);
  }
  const url = `postgres://keycloak@127.0.0.1:${server.port}/keycloak`;
  return {
    ...server,
    url,
    sql: psql,
    open: ({ url: other = url, ...change } = {}) =>
      new PostgresDatabase({
        address: parsePostgresUrl(other),
        location: other,
        password: new Secret(PASSWORD),
        programs: openLocalPrograms(),
        service: 'keycloak',
        masterKey: undefined,
        masterKeyOld: undefined,
        ...change,
      }),
    databases: () =>
      psql(
        'postgres',
        `SELECT datname FROM pg_database WHERE NOT datistemplate AND datname <> 'postgres' ORDER BY 1`,
      )
        .split('\n')
        .filter((name) => name !== ''),
    clients: () =>
      psql(
        'postgres',
        `SELECT application_name FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() ORDER BY 1`,
      )
        .split('\n')
        .filter((name) => name !== ''),
  };
}

/** Dumps a database into memory and inspects the dump. */
export async function dumpOf(
  database: PostgresDatabase,
): Promise<{ sql: Buffer; summary: DumpSummary; report: DumpReport }> {
  const chunks: Buffer[] = [];
  const summary = await database.dump(
    async (chunk) => {
      chunks.push(Buffer.from(chunk));
    },
    { signal: never },
  );
  const sql = Buffer.concat(chunks);
  return { sql, summary, report: inspect(sql) };
}

/** Inspects a dump. @throws IDKIT_DAMAGED */
export function inspect(sql: Uint8Array): DumpReport {
  const inspector = createDumpInspector();
  inspector.write(sql);
  return inspector.end();
}

/** Yields a dump in chunks, as when it is read from a set. */
export async function* inPieces(sql: Uint8Array, size = 256 * 1024): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < sql.length; at += size) yield sql.subarray(at, at + size);
}

/** Loads a dump into the staged database of restore `x`. */
export const load = (database: PostgresDatabase, sql: AsyncIterable<Uint8Array>, signal = never) =>
  database.load(sql, { id: 'x', masterKey: undefined, signal });

/**
 * Checks after a failed load that the staged database is empty and can be discarded, that the live one is unchanged,
 * and that no session remains.
 */
export async function checkNothingLoaded(server: KeycloakServer, database: PostgresDatabase): Promise<void> {
  if (server.databases().includes('keycloak_restore_x'))
    assert.equal(
      server.sql(
        'keycloak_restore_x',
        `SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace`,
      ),
      '0',
    );
  await database.swapBack('x');
  await database.discard('x', { previous: false });
  assert.deepEqual(server.databases(), ['keycloak']);
  assert.equal(server.sql('keycloak', 'SELECT count(*) FROM realm'), '4');
  await checkNobodyLeft(server);
}

/** Waits until no other client is connected. A server process ends a little later than its client. */
export async function checkNobodyLeft(
  server: KeycloakServer,
  { what = 'no other client', but }: { what?: string; but?: string } = {},
): Promise<void> {
  const left = () => server.clients().filter((name) => name !== but);
  await waitUntil(`no session is left (${what})`, () => left().length === 0, { seconds: 10, seen: left });
}
