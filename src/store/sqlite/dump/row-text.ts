/** A column that a dump writes. */
export interface WrittenColumn {
  name: string;
  /** The declared type. */
  type: string;
  mayBeNull: boolean;
}

/** Constant text of a row, or an SQL expression. */
type Piece = { literal: string } | { expression: string };

/**
 * Returns the SQL expression of one row as text, `(1,'x')`. NUL, CR and bytes that are not UTF-8 stay in the literals
 * unchanged: the writer finds them faster than SQL does.
 *
 * In almost every row, each value has the declared type of its column and contains no quote. SQLite concatenates such
 * values directly, in half the time of `quote()`.
 */
export function rowText(columns: readonly WrittenColumn[]): string {
  const texts = columns.filter(isText).map(({ name }) => identifier(name));
  const guards = columns.map(plainGuard);
  if (texts.length > 0) guards.push(`NOT instr(concat(${texts.join(', ')}), '''')`);
  const plain = join(columns.map(plainPieces));
  const exact = join(columns.map(({ name }) => [{ expression: exactText(identifier(name)) }]));
  return `CASE WHEN ${guards.join(' AND ')} THEN ${plain} ELSE ${exact} END`;
}

/** Returns a quoted SQL name. */
export function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

function isText({ type }: WrittenColumn): boolean {
  return /^TEXT$/i.test(type);
}

function isInteger({ type }: WrittenColumn): boolean {
  return /^INTEGER$/i.test(type);
}

/**
 * Returns an expression that works for any value. `quote()` loses text after NUL. It writes infinite numbers as
 * 9.0e+999, which every reader accepts.
 */
function exactText(column: string): string {
  return `CASE WHEN typeof(${column}) = 'text' THEN concat('''', replace(${column}, '''', ''''''), '''') ELSE quote(${column}) END`;
}

/**
 * Returns the condition that the value has the declared type. Text sorts below every blob, and numbers below every
 * text.
 */
function plainGuard(column: WrittenColumn): string {
  const name = identifier(column.name);
  // A column of TEXT affinity holds no numbers (https://www.sqlite.org/datatype3.html §3).
  const guard = isText(column)
    ? `${name} < x''`
    : isInteger(column)
      ? `typeof(${name}) = 'integer'`
      : `(${name} < '' OR ${name} >= x'')`;
  return column.mayBeNull ? `(${name} IS NULL OR ${guard})` : guard;
}

/** Returns the pieces of a value whose guard holds. */
function plainPieces(column: WrittenColumn): Piece[] {
  const name = identifier(column.name);
  if (!isText(column) && !isInteger(column)) return [{ expression: `quote(${name})` }];
  if (column.mayBeNull)
    return [{ expression: `coalesce(${isText(column) ? `'''' || ${name} || ''''` : name}, 'NULL')` }];
  const quote: Piece[] = isText(column) ? [{ literal: "'" }] : [];
  return [...quote, { expression: name }, ...quote];
}

/** Joins the row in one call. Merges constant text into as few arguments as possible. */
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
