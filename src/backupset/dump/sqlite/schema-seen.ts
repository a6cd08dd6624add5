import { printable } from '../../faults.ts';
import { type BadDump, badDump } from '../window.ts';
import { SQLITE_VERSION } from './definitions.ts';
import { definitionsOf, findDefinition, isPlainDefinition, parseBeginning, parseTrigger } from './known.ts';

/** Tables that a dump contains without rows, because the service counts again. No version has written any. */
const WITHOUT_ROWS = ['record_count', 'count_check'];

/** Collects the definitions of one dump. Their schema version is known only at the end of the dump. */
export class SchemaSeen {
  readonly #definitions = new Set<string>();
  /** The names are in lower case, because SQLite ignores their case. */
  readonly #names = new Set<string>();
  /** Columns by table name. Undefined for a table that this idkit does not know. */
  readonly #tables = new Map<string, readonly string[] | undefined>();
  /** The error for the first definition, or the first rows, that no known version writes. */
  #unknown: BadDump | undefined;

  get tables(): readonly string[] {
    return [...this.#tables.keys()];
  }

  /**
   * Adds a definition. A newer idkit may create other tables and indexes that compute nothing, and other triggers, which
   * this idkit never runs.
   *
   * @throws IDKIT_DAMAGED for a definition that no version of idkit creates
   */
  add(sql: string, line: number): void {
    const known = findDefinition(sql);
    const fault = badDump(
      `idkit does not create this table, index or trigger: ${printable(sql.slice(0, 60))}`,
    );
    const trigger = parseTrigger(sql);
    const begins = trigger ?? parseBeginning(sql);
    const isAcceptable = known !== undefined || trigger !== undefined || isPlainDefinition(sql);
    if (begins === undefined || !isAcceptable) throw fault;
    const name = begins.name.toLowerCase();
    if (name.startsWith('sqlite_') || this.#names.has(name)) throw fault;
    if (begins.on !== undefined && !this.#tables.has(begins.on))
      throw badDump(`${printable(begins.name)} comes before its table`);
    if (known === undefined) this.#unknown ??= fault.atLine(line);
    this.#names.add(name);
    this.#definitions.add(sql);
    if (begins.on === undefined) this.#tables.set(begins.name, known?.table?.columns);
  }

  /** @throws IDKIT_DAMAGED unless the columns of an INSERT are exactly the columns of its table */
  addRows(table: string, columns: readonly string[], line: () => number): void {
    if (WITHOUT_ROWS.includes(table))
      this.#unknown ??= badDump(`idkit writes no rows of ${table}, because it counts again`).atLine(line());
    if (!this.#tables.has(table)) throw badDump(`rows of ${printable(table)} come before its CREATE TABLE`);
    const known = this.#tables.get(table) ?? columns;
    const named = new Set(columns);
    const fits = named.size === columns.length && named.size === known.length;
    if (!fits || !known.every((column) => named.has(column)))
      throw badDump(`the columns of ${printable(table)} are not the columns that idkit creates`);
  }

  /**
   * Checks that the dump has exactly the definitions of its schema version. Does not check a version that is newer than
   * this idkit or below 1: restore rejects both.
   *
   * @throws IDKIT_DAMAGED
   */
  check(version: number): void {
    if (version > SQLITE_VERSION || version < 1) return;
    if (this.#unknown !== undefined) throw this.#unknown;
    const expected = new Set(definitionsOf(version).map(({ sql }) => sql));
    const foreign = [...this.#definitions].find((sql) => !expected.has(sql));
    if (foreign !== undefined)
      throw badDump(
        `schema version ${version} does not have this table, index or trigger: ${printable(foreign.slice(0, 60))}`,
      );
    const missing = [...expected].find((sql) => !this.#definitions.has(sql));
    if (missing !== undefined)
      throw badDump(`a table, index or trigger of its schema is missing: ${printable(missing.slice(0, 60))}`);
  }
}
