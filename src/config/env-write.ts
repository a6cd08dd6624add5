import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { IdkitError, type Secret, systemErrorCode } from '../core/index.ts';
import { parseEnvFile, readEnvFile, renderEnvValue } from './env-file.ts';
import { replaceFile } from './write-file.ts';

/**
 * Sets one key of the environment file, or removes it where `value` is null, and keeps every other line as it is.
 * The file is replaced by one rename (mode 0600) and made where it is absent.
 *
 * @throws IDKIT_ENV_READABLE, IDKIT_SETTING where the file cannot be read as an environment file;
 * IDKIT_DIRECTORY_NOT_WRITABLE, IDKIT_NO_SPACE
 */
export function writeEnvironmentValue(file: string, key: string, value: Secret | string | null): void {
  if (!/^[A-Z][A-Z0-9_]*$/.test(key)) {
    throw new IdkitError('IDKIT_SETTING', `${JSON.stringify(key)} is no name of a variable`);
  }
  const text = value === null || typeof value === 'string' ? value : value.reveal();
  if (text?.includes('\0')) throw new IdkitError('IDKIT_SETTING', `${key} holds a NUL byte`);
  readEnvFile(file);
  const target = realPath(file);
  const after = withValue(readText(target), key, text);
  // Read back before it replaces anything: a value that would not survive its own quoting is never written.
  if (text !== null && parseEnvFile(after, file).get(key) !== text) {
    throw new IdkitError('IDKIT_SETTING', `${key} cannot be written to ${file}`);
  }
  replaceFile(target, after, 0o600);
}

/** A link to the environment file stays a link. */
function realPath(file: string): string {
  return existsSync(file) ? realpathSync(file) : file;
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return '';
    throw error;
  }
}

/** The text with the key's lines replaced in place, added at the end, or taken out. */
function withValue(text: string, key: string, value: string | null): string {
  const assignment = value === null ? [] : [`${key}=${renderEnvValue(value)}`];
  const lines = text.split('\n');
  const start = lines.findIndex((line) => new RegExp(`^\\s*(export\\s+)?${key}\\s*=`).test(line));
  if (start !== -1) {
    let end = start + 1;
    // A quoted value may take several lines.
    while (end < lines.length && !isComplete(lines.slice(start, end).join('\n'), key)) end += 1;
    return [...lines.slice(0, start), ...assignment, ...lines.slice(end)].join('\n');
  }
  if (value === null) return text;
  return `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${assignment[0]}\n`;
}

function isComplete(assignment: string, key: string): boolean {
  try {
    return parseEnvFile(assignment).has(key);
  } catch {
    return false;
  }
}
