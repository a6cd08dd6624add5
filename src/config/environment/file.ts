import { readFileSync, statSync } from 'node:fs';
import { errorMessage, IdkitError, nearestName } from '../../core/index.ts';
import { KEY_PASSPHRASE_VARIABLES, PASSPHRASE_VARIABLES } from '../passphrase.ts';
import { type SettingRow, variablesOf } from '../settings/row.ts';
import { SETTINGS } from '../settings/table.ts';

/** The variable that names the platform directory. It is not a setting of that directory. */
const DIRECTORY_VARIABLE = 'IDKIT_DIR';

/** The values of an environment file by key, in the order of the file. */
export type EnvValues = ReadonlyMap<string, string>;

// With the flag `s`, `.` also matches U+2028 and U+2029, which do not end a line of a file.
const ASSIGNMENT = /^(?:export\s+)?([A-Za-z_][A-Za-z0-9_.-]*)[ \t]*=[ \t]*(.*)$/s;

/**
 * Parses `KEY=VALUE` lines in the format of dotenv: `#` comments, `export`, single, double and back quotes over several
 * lines, `\n` and `\r` inside double quotes. Rejects a duplicate `IDKIT_…` key. For any other key the last value
 * counts, as in dotenv. Messages never contain a value.
 *
 * @param file the name for messages
 * @throws IDKIT_SETTING with the line
 */
export function parseEnvFile(text: string, file = '.env'): EnvValues {
  const values = new Map<string, string>();
  if (text.includes('\0')) throw new IdkitError('IDKIT_SETTING', `${file} contains a NUL byte`);
  const lines = text.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/);
  for (let index = 0; index < lines.length; index++) {
    const line = (lines[index] ?? '').trimStart();
    if (line === '' || line.startsWith('#')) continue;
    const match = ASSIGNMENT.exec(line);
    if (match === null) {
      throw new IdkitError('IDKIT_SETTING', `${file} line ${index + 1} is not KEY=VALUE`);
    }
    const [, key = '', rest = ''] = match;
    const read = readValue(rest, lines, index, `${file} line ${index + 1}`);
    if (values.has(key) && key.startsWith('IDKIT_')) {
      throw new IdkitError('IDKIT_SETTING', `${file} line ${index + 1}: ${key} is set twice`);
    }
    values.set(key, read.value);
    index = read.lastLine;
  }
  return values;
}

function readValue(
  rest: string,
  lines: readonly string[],
  from: number,
  where: string,
): { value: string; lastLine: number } {
  const quote = rest[0];
  if (quote !== '"' && quote !== "'" && quote !== '`') {
    return { value: rest.replace(/(^|\s)#.*$/s, '').trim(), lastLine: from };
  }
  let body = rest.slice(1);
  let lastLine = from;
  let end = findQuote(body, quote);
  while (end === -1 && lastLine + 1 < lines.length) {
    lastLine += 1;
    body += `\n${lines[lastLine]!}`;
    end = findQuote(body, quote);
  }
  if (end === -1) throw new IdkitError('IDKIT_SETTING', `${where}: the quote ${quote} is not closed`);
  const after = body.slice(end + 1).trim();
  if (after !== '' && !after.startsWith('#')) {
    throw new IdkitError('IDKIT_SETTING', `${where}: there is text after the closing quote`);
  }
  const value = body.slice(0, end);
  return { value: quote === '"' ? expandEscapes(value) : value, lastLine };
}

function findQuote(body: string, quote: string): number {
  for (let index = 0; index < body.length; index++) {
    if (quote === '"' && body[index] === '\\') index += 1;
    else if (body[index] === quote) return index;
  }
  return -1;
}

function expandEscapes(value: string): string {
  return value.replace(/\\(["\\nr])/g, (_, mark: string) =>
    mark === 'n' ? '\n' : mark === 'r' ? '\r' : mark,
  );
}

/** Quotes a value for `KEY=…`, so that `parseEnvFile` and other readers of dotenv files return it unchanged. */
export function renderEnvValue(value: string): string {
  if (/^[A-Za-z0-9_+/=.:@%,-]*$/.test(value)) return value;
  if (!/['\n\r]/.test(value)) return `'${value}'`;
  if (!/[`\n\r]/.test(value)) return `\`${value}\``;
  return `"${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n').replaceAll('\r', '\\r')}"`;
}

/**
 * Reads the values of an environment file. Returns no values if the file does not exist.
 *
 * @throws IDKIT_ENV_READABLE if the group or others can read or write the file; IDKIT_SETTING for an unknown `IDKIT_…`
 *   key, a passphrase, or a line that is not `KEY=VALUE`
 */
export function readEnvFile(file: string, rows: readonly SettingRow[] = SETTINGS): EnvValues {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats === undefined) return new Map();
  if (!stats.isFile()) throw new IdkitError('IDKIT_SETTING', `${file} is not a file`);
  const mode = stats.mode & 0o777;
  if ((mode & 0o066) !== 0) {
    throw new IdkitError(
      'IDKIT_ENV_READABLE',
      `other users can read or write ${file} (mode ${mode.toString(8).padStart(4, '0')})`,
      { hints: [`chmod 600 ${file}`] },
    );
  }
  const values = parseEnvContent(readBytes(file), file);
  checkEnvKeys(values, file, rows);
  return values;
}

/**
 * Parses the bytes of an environment file as `parseEnvFile` does.
 *
 * @throws IDKIT_SETTING, including for bytes that are not UTF-8
 */
export function parseEnvContent(bytes: Uint8Array, file: string): EnvValues {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new IdkitError('IDKIT_SETTING', `${file} is not UTF-8`, { cause: error });
  }
  return parseEnvFile(text, file);
}

/** @throws IDKIT_SETTING for a key that an environment file must not have: an unknown `IDKIT_…` key or a passphrase */
export function checkEnvKeys(values: EnvValues, file: string, rows: readonly SettingRow[] = SETTINGS): void {
  for (const key of values.keys()) checkKey(key, file, rows);
}

function readBytes(file: string): Uint8Array {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new IdkitError('IDKIT_SETTING', `${file} cannot be read: ${errorMessage(error)}`, {
      cause: error,
    });
  }
}

function checkKey(key: string, file: string, rows: readonly SettingRow[]): void {
  if (!key.startsWith('IDKIT_')) return;
  if ([...PASSPHRASE_VARIABLES, ...KEY_PASSPHRASE_VARIABLES].some((variable) => variable === key)) {
    throw new IdkitError(
      'IDKIT_SETTING',
      `${file} contains ${key}, but must not contain a passphrase or its source`,
      {
        hints: [
          'a backup includes .env, so the backup would contain its own passphrase',
          'keep it in a secrets manager, and pass it through the process environment, a file or a command',
        ],
      },
    );
  }
  const known = [...rows.flatMap(variablesOf), DIRECTORY_VARIABLE];
  if (known.includes(key)) return;
  const near = nearestName(key, known);
  throw new IdkitError('IDKIT_SETTING', `${file} contains the unknown key ${key}`, {
    hints: [near === undefined ? `known keys: ${known.join(', ')}` : `did you mean ${near}?`],
  });
}
