import { shown } from '../../faults.ts';
import { type BadDump, badDump } from '../window.ts';
import { SQLITE_VERSION } from './definitions.ts';
import { definitionsOf, findDefinition, isPlainDefinition, parseBeginning } from './known.ts';

/** The definitions of one dump, gathered as it goes by; which version they are of is known at its end. */
export class SchemaSeen {
  readonly #definitions = new Set<string>();
  /** In small letters, as SQLite compares them. */
  readonly #names = new Set<string>();
  /** Undefined: columns of a table that this idkit does not know. */
  readonly #tables = new Map<string, readonly string[] | undefined>();
  /** The first that no version known here has. */
  #unknown: BadDump | undefined;

  get tables(): readonly string[] {
    return [...this.#tables.keys()];
  }

  /** @throws IDKIT_DAMAGED for what no version of idkit makes, at that place */
  add(sql: string, line: number): void {
    const known = findDefinition(sql);
    const fault = badDump(`idkit makes no such table or index: ${shown(sql.slice(0, 60))}`);
    const begins = parseBeginning(sql);
    if (begins === undefined || (known === undefined && !isPlainDefinition(sql))) throw fault;
    const name = begins.name.toLowerCase();
    if (name.startsWith('sqlite_') || this.#names.has(name)) throw fault;
    if (begins.on !== undefined && !this.#tables.has(begins.on))
      throw badDump(`the index ${shown(begins.name)} comes before its table`);
    if (known === undefined) this.#unknown ??= fault.atLine(line);
    this.#names.add(name);
    this.#definitions.add(sql);
    if (begins.on === undefined) this.#tables.set(begins.name, known?.table?.columns);
  }

  /** A row names every column of its table, each once. @throws IDKIT_DAMAGED */
  checkColumns(table: string, columns: readonly string[]): void {
    if (!this.#tables.has(table)) throw badDump(`rows of ${shown(table)} come before the table`);
    const known = this.#tables.get(table) ?? columns;
    const named = new Set(columns);
    const fits = named.size === columns.length && named.size === known.length;
    if (!fits || !known.every((column) => named.has(column)))
      throw badDump(`the columns of ${shown(table)} are not those that idkit makes`);
  }

  /**
   * What is there is what that version has. Of a newer one that cannot be said, and a version below 1 is another
   * program's: restore refuses both by the version.
   *
   * @throws IDKIT_DAMAGED
   */
  check(version: number): void {
    if (version > SQLITE_VERSION || version < 1) return;
    if (this.#unknown !== undefined) throw this.#unknown;
    const expected = new Set(definitionsOf(version).map(({ sql }) => sql));
    const foreign = [...this.#definitions].find((sql) => !expected.has(sql));
    if (foreign !== undefined)
      throw badDump(`schema ${version} has no such table or index: ${shown(foreign.slice(0, 60))}`);
    const missing = [...expected].find((sql) => !this.#definitions.has(sql));
    if (missing !== undefined)
      throw badDump(`a table or index of its schema is missing: ${shown(missing.slice(0, 60))}`);
  }
}
