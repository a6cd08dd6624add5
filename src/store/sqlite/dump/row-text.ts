/** A column whose values a dump writes. */
export interface WrittenColumn {
  name: string;
  /** The declared type. */
  type: string;
  mayBeNull: boolean;
}

/** Text of a row that stays the same, or an SQL expression for text that does not. */
type Piece = { literal: string } | { expression: string };

/**
 * One row as text, `(1,'x')`, made by SQLite alone. NUL, CR and bytes that are not UTF-8 stay in the literals as
 * they are: the writer finds them faster than SQL does.
 *
 * Nearly every row holds in each column what its type promises, and no quote. Such a row is put together from its
 * values as they are, in half the time that `quote()` takes for all of them.
 */
export function rowText(columns: readonly WrittenColumn[]): string {
  const texts = columns.filter(isText).map(({ name }) => identifier(name));
  const guards = columns.map(plainGuard);
  if (texts.length > 0) guards.push(`NOT instr(concat(${texts.join(', ')}), '''')`);
  const plain = join(columns.map(plainPieces));
  const exact = join(columns.map(({ name }) => [{ expression: exactText(identifier(name)) }]));
  return `CASE WHEN ${guards.join(' AND ')} THEN ${plain} ELSE ${exact} END`;
}

/** A name as SQL takes it. */
export function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

function isText({ type }: WrittenColumn): boolean {
  return /^TEXT$/i.test(type);
}

function isInteger({ type }: WrittenColumn): boolean {
  return /^INTEGER$/i.test(type);
}

/** Any value. `quote()` loses text after NUL; infinite numbers it writes as 9.0e+999, which every reader takes. */
function exactText(column: string): string {
  return `CASE WHEN typeof(${column}) = 'text' THEN concat('''', replace(${column}, '''', ''''''), '''') ELSE quote(${column}) END`;
}

/** Whether the value is what the type promises. Text sorts below every blob, numbers below every text. */
function plainGuard(column: WrittenColumn): string {
  const name = identifier(column.name);
  // TEXT affinity leaves no numbers (https://www.sqlite.org/datatype3.html §3).
  const guard = isText(column)
    ? `${name} < x''`
    : isInteger(column)
      ? `typeof(${name}) = 'integer'`
      : `(${name} < '' OR ${name} >= x'')`;
  return column.mayBeNull ? `(${name} IS NULL OR ${guard})` : guard;
}

/** The value that its guard let through. */
function plainPieces(column: WrittenColumn): Piece[] {
  const name = identifier(column.name);
  if (!isText(column) && !isInteger(column)) return [{ expression: `quote(${name})` }];
  if (column.mayBeNull)
    return [{ expression: `coalesce(${isText(column) ? `'''' || ${name} || ''''` : name}, 'NULL')` }];
  const quote: Piece[] = isText(column) ? [{ literal: "'" }] : [];
  return [...quote, { expression: name }, ...quote];
}

/** One call for the row, its fixed text in as few arguments as can be. */
function join(values: readonly Piece[][]): string {
  const parts: string[] = [];
  let fixed = '(';
  const flush = () => {
    if (fixed !== '') parts.push(`'${fixed.replaceAll("'", "''")}'`);
    fixed = '';
  };
  for (const [index, pieces] of values.entries()) {
    if (index > 0) fixed += ',';
    for (const piece of pieces) {
      if ('literal' in piece) fixed += piece.literal;
      else {
        flush();
        parts.push(piece.expression);
      }
    }
  }
  fixed += ')';
  flush();
  return `concat(${parts.join(', ')})`;
}
