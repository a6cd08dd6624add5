import { keycloakSchemaNumber } from '../backupset/index.ts';
import type { JsonRow } from './psql.ts';
import { identifier, literal } from './quote.ts';

export interface RealmCount {
  realm: string;
  /** Number of users in one snapshot, without service accounts, as in `GET /admin/realms/{realm}/users/count`. */
  users: number;
}

/** The schema version and the realms of a database, all read in one transaction. */
export interface DatabaseFacts {
  /** 0 if the service has not created its tables yet. */
  schemaVersion: number;
  realms: readonly RealmCount[];
}

/** How to read the schema version and the users from a service's tables. */
export interface ServiceSchema {
  /** The name of a table that exists if the service has ever started on the database. */
  table: string;
  /** SQL that returns rows `{schema}` and `{realm, users}`. It runs only if `table` exists. */
  query: string;
  readSchemaVersion(value: unknown): number;
}

const IDKIT: ServiceSchema = {
  table: 'idkit_schema',
  query: `SELECT json_build_object('schema', version) FROM idkit_schema;
    SELECT json_build_object('realm', r.name, 'users', count(a.id)) FROM realm r
      LEFT JOIN account a ON a.realm_id = r.id AND a.service_account_client IS NULL
      GROUP BY r.id, r.name ORDER BY r.name COLLATE "C";`,
  readSchemaVersion: Number,
};

/** The tables of Keycloak. Like Keycloak itself, the query counts users without service accounts. */
const KEYCLOAK: ServiceSchema = {
  table: 'migration_model',
  query: `SELECT json_build_object('schema', version) FROM migration_model ORDER BY update_time DESC LIMIT 1;
    SELECT json_build_object('realm', r.name, 'users', count(u.id)) FROM realm r
      LEFT JOIN user_entity u ON u.realm_id = r.id AND u.service_account_client_link IS NULL
      GROUP BY r.id, r.name ORDER BY r.name COLLATE "C";`,
  readSchemaVersion: (version) => keycloakSchemaNumber(String(version)),
};

export const SERVICE_SCHEMAS = { idkit: IDKIT, keycloak: KEYCLOAK } as const;

/** Runs SQL through psql and returns the rows, which are JSON objects. */
type Ask = (sql: string) => Promise<readonly JsonRow[]>;

/** Returns whether the service has created its tables. */
export async function hasServiceTables(schema: ServiceSchema, ask: Ask): Promise<boolean> {
  return (await findSchema(schema, ask)) !== undefined;
}

/**
 * Reads the realms, the numbers of users and the schema version. If `ask` runs in a transaction with a fixed snapshot,
 * all of them come from that snapshot.
 */
export async function readServiceFacts(schema: ServiceSchema, ask: Ask): Promise<DatabaseFacts> {
  const place = await findSchema(schema, ask);
  if (place === undefined) return { schemaVersion: 0, realms: [] };
  const rows = await ask(`SET search_path TO ${identifier(place)}; ${schema.query}`);
  const version = rows.find((row) => 'schema' in row)?.['schema'];
  return {
    schemaVersion: version === undefined ? 0 : schema.readSchemaVersion(version),
    realms: rows
      .filter((row) => 'realm' in row)
      .map((row) => ({ realm: String(row['realm']), users: Number(row['users']) })),
  };
}

/**
 * Returns the schema that contains the table. Prefers a schema in the search path, but also finds another one, which
 * Keycloak's `db-schema` can set.
 */
async function findSchema({ table }: ServiceSchema, ask: Ask): Promise<string | undefined> {
  const [found] = await ask(
    `SELECT json_build_object('place', n.nspname) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE c.relname = ${literal(table)} AND c.relkind IN ('r', 'p')
      ORDER BY pg_table_is_visible(c.oid) DESC, n.nspname LIMIT 1;`,
  );
  return found === undefined ? undefined : String(found['place']);
}
