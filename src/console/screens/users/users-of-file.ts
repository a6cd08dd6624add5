/** Maximum number of users that a file can name. Each user is requested and changed separately. */
export const MAX_USERS = 5000;

/**
 * Reads the usernames of a file: the column `username` of a CSV file with commas, semicolons or tabs, or one username a
 * line. A username that occurs twice is returned once.
 *
 * @throws Error with a text for people
 */
export function readUsernames(text: string): readonly string[] {
  const lines = text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .filter((line) => line.trim() !== '');
  const [first = ''] = lines;
  const separator = [',', ';', '\t'].find((one) => first.includes(one));
  const header = readCells(first, separator).map((cell) => cell.toLowerCase());
  const column = header.indexOf('username');
  if (column === -1 && separator !== undefined)
    throw new Error(`The first line has no column username, but ${header.join(', ')}`);
  const rows = column === -1 ? lines : lines.slice(1);
  const names = rows.map((line) => readCells(line, separator)[Math.max(column, 0)] ?? '');
  const found = [...new Set(names.filter((name) => name !== ''))];
  if (found.length === 0) throw new Error('The file names no users');
  if (found.length > MAX_USERS)
    throw new Error(
      `The file names ${found.length.toLocaleString()} users, but the console changes at most ${MAX_USERS.toLocaleString()} together. The command idkit admin bulk changes more.`,
    );
  return found;
}

/** Splits a line of a CSV file. A quoted cell may contain separators, and two quotes mean one. */
function readCells(line: string, separator: string | undefined): readonly string[] {
  if (separator === undefined) return [unquote(line.trim())];
  const cells: string[] = [];
  let cell = '';
  let quoted = false;
  for (const character of line) {
    if (character === '"') quoted = !quoted;
    if (character === separator && !quoted) {
      cells.push(unquote(cell.trim()));
      cell = '';
    } else cell += character;
  }
  return [...cells, unquote(cell.trim())];
}

function unquote(cell: string): string {
  return /^".*"$/.test(cell) ? cell.slice(1, -1).replaceAll('""', '"') : cell;
}
