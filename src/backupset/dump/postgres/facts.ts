import type { PostgresDumpFacts } from '../../contract.ts';

/** Limits for the rows of the table `meta` that are kept in memory. idkit writes only short ones. */
const META_ROWS = 1000;
const META_VALUE = 4096;
/** Maximum size in bytes of the comments that are kept from before the first statement. */
const HEAD_BYTES = 256 * 1024;

const ROLE = String.raw`("(?:[^"]|"")+"|[A-Za-z_][\w$]*)`;
const OWNER = new RegExp(`^(?:ALTER .* OWNER TO|CREATE SCHEMA .* AUTHORIZATION) ${ROLE}$`, 'is');
const GRANTED = new RegExp(`^(?:GRANT|REVOKE) .* (?:TO|FROM) ${ROLE}(?: WITH GRANT OPTION)?$`, 'is');
const DEFAULTS = new RegExp(`^ALTER DEFAULT PRIVILEGES FOR ROLE ${ROLE} .* (?:TO|FROM) ${ROLE}`, 'is');
/** An INSERT of `pg_dump --inserts` into a table that this file needs. idkit does not read its rows. */
const UNREAD = /^INSERT INTO (?:\S+\.)?"?(?:meta|idkit_schema|migration_model)"? /i;
const VERSION = /^-- Dumped (from database|by pg_dump) version (\d+(?:\.\d+)?)/;

/** Receives the rows of one table. */
export interface TableReader {
  /** The index of the last column that is needed. */
  last: number;
  /** @param values the unescaped values, null for `\N` */
  add(values: readonly (string | null)[]): void;
}

/** Collects facts about the origin of a Postgres dump. */
export class DumpFacts {
  readonly #roles = new Set<string>();
  readonly #meta = new Map<string, string>();
  #head = '';
  #inHead = true;
  #unread = false;
  #server: string | undefined;
  #dump: string | undefined;
  #schemaVersion: number | undefined;
  #keycloak: { version: string; time: number } | undefined;

  comment(line: string): void {
    const [, by, version] = VERSION.exec(line) ?? [];
    if (by === 'from database') this.#server ??= version;
    if (by === 'by pg_dump') this.#dump ??= version;
    if (this.#inHead && this.#head.length < HEAD_BYTES) this.#head += `${line}\n`;
  }

  /** @param words the statement with white space reduced to single blanks */
  statement(words: string): void {
    this.#inHead = false;
    this.#unread ||= UNREAD.test(words);
    const named = [
      OWNER.exec(words)?.[1],
      GRANTED.exec(words)?.[1],
      ...(DEFAULTS.exec(words)?.slice(1) ?? []),
    ];
    for (const role of named)
      if (role !== undefined && !/^(PUBLIC|CURRENT_USER|SESSION_USER|CURRENT_ROLE)$/i.test(role))
        this.#roles.add(unquoted(role));
  }

  /** Returns the reader for the rows of a table, or undefined if they are not needed. */
  table(name: string, columns: readonly string[]): TableReader | undefined {
    const at = (column: string) => columns.indexOf(column);
    const has = (...wanted: readonly string[]) => wanted.every((column) => at(column) >= 0);
    if (name === 'meta' && has('name', 'value'))
      return reader([at('name'), at('value')], ([key, value]) => {
        if (key != null && value != null && this.#meta.size < META_ROWS && value.length <= META_VALUE)
          this.#meta.set(key, value);
      });
    if (name === 'idkit_schema' && has('version'))
      return reader([at('version')], ([version]) => {
        this.#schemaVersion = Number(version);
      });
    if (name === 'migration_model' && has('version', 'update_time'))
      return reader([at('version'), at('update_time')], ([version, updated]) => {
        const time = Number(updated);
        if (version != null && (this.#keycloak === undefined || time >= this.#keycloak.time))
          this.#keycloak = { version, time };
      });
    return undefined;
  }

  result(): { postgres: PostgresDumpFacts; schemaVersion?: number; meta?: ReadonlyMap<string, string> } {
    const keycloak = this.#keycloak?.version;
    const schemaVersion = keycloak === undefined ? this.#schemaVersion : keycloakSchemaNumber(keycloak);
    return {
      postgres: {
        head: this.#head,
        roles: [...this.#roles].sort(),
        ...(this.#server === undefined ? {} : { serverVersion: this.#server }),
        ...(this.#dump === undefined ? {} : { dumpVersion: this.#dump }),
        ...(keycloak === undefined ? {} : { keycloakVersion: keycloak }),
        ...(this.#unread ? { unread: true as const } : {}),
      },
      ...(schemaVersion === undefined ? {} : { schemaVersion }),
      ...(this.#meta.size === 0 ? {} : { meta: this.#meta }),
    };
  }
}

/**
 * Converts a version such as `26.7.3` to 260703, a number that grows with the version. Manifests store it as
 * `schemaVersion`.
 */
export function keycloakSchemaNumber(version: string): number {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map((part) => Number.parseInt(part, 10) || 0);
  return major * 10_000 + minor * 100 + patch;
}

/** Converts 260703 back to `26.7.3`. Returns undefined for 0, which means an unknown version. */
export function renderKeycloakVersion(schema: number): string | undefined {
  if (schema === 0) return undefined;
  return [Math.floor(schema / 10_000), Math.floor(schema / 100) % 100, schema % 100].join('.');
}

function reader(
  places: readonly number[],
  add: (values: readonly (string | null | undefined)[]) => void,
): TableReader {
  return { last: Math.max(...places), add: (values) => add(places.map((place) => values[place])) };
}

function unquoted(name: string): string {
  return name.startsWith('"') ? name.slice(1, -1).replaceAll('""', '"') : name;
}
