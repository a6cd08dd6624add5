import { readFileSync } from 'node:fs';
import { Secret } from '../../../core/index.ts';

/** Maximum size in bytes of the end of a log that is posted. */
export const MOST_POSTED_BYTES = 100_000;
/** Maximum length of one line in characters. */
const LONGEST_LINE = 4_000;
const MASK = '[secret]';

/** The end of the log of one job, without secrets. */
export interface LogTail {
  /** Adds a line. The oldest lines are dropped when the log is too large. */
  add(line: string): void;
  /** Returns at most 100,000 bytes. */
  text(): string;
  /** Replaces the known secrets in a text. */
  scrub(text: string): string;
}

/** @param secrets values that must not appear in the log */
export function openLogTail(secrets: readonly string[]): LogTail {
  // A secret that contains another one is replaced first, so that no part of it remains.
  const known = [...new Set(secrets)].filter((secret) => secret.length >= 4).toSorted(byLength);
  const scrub = (text: string) =>
    known
      .reduce((left, secret) => left.replaceAll(secret, MASK), text)
      .replace(/(\b[a-z][a-z0-9+.-]{0,20}:\/\/[^\s/:@]{0,200}):[^\s/@]{1,200}@/gi, `$1:${MASK}@`);
  const lines: string[] = [];
  let bytes = 0;
  return {
    scrub,
    add(line) {
      // A secret can begin before the cut, so it is replaced before the line is cut.
      const kept = scrub(line).slice(0, LONGEST_LINE);
      lines.push(kept);
      bytes += Buffer.byteLength(kept) + 1;
      while (bytes > MOST_POSTED_BYTES) bytes -= Buffer.byteLength(lines.shift() ?? '') + 1;
    },
    text: () => lines.map((line) => `${line}\n`).join(''),
  };
}

function byLength(one: string, other: string): number {
  return other.length - one.length;
}

/** Names of variables whose values are secrets. */
const SECRET_NAME = /PASS|SECRET|TOKEN|KEY|CREDENTIAL/i;

/**
 * Lists the secrets that a job could print: those of the settings, the values of variables with names such as
 * `…_PASSWORD`, and the passphrase. The command of a passphrase is not run for this.
 */
export function listSecrets(settings: object, env: NodeJS.ProcessEnv): readonly string[] {
  const secrets: string[] = [];
  const walk = (value: unknown): void => {
    if (value instanceof Secret) secrets.push(value.reveal());
    else if (value instanceof Map) for (const [name, text] of value) addVariable(name, text);
    else if (typeof value === 'object' && value !== null)
      for (const inner of Object.values(value)) walk(inner);
  };
  const addVariable = (name: string, text: unknown): void => {
    if (SECRET_NAME.test(name) && !/_(FILE|COMMAND)$/.test(name) && typeof text === 'string')
      secrets.push(text);
  };
  walk(settings);
  for (const [name, text] of Object.entries(env)) addVariable(name, text);
  const file = env['IDKIT_BACKUP_PASSPHRASE_FILE'];
  if (file !== undefined) secrets.push(...readFirstLine(file));
  return secrets.flatMap((secret) => [
    secret,
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
  ]);
}

/** Returns nothing if the file cannot be read. The job itself then reports the fault. */
function readFirstLine(file: string): readonly string[] {
  try {
    const [line = ''] = readFileSync(file, 'utf8').slice(0, 65_536).split(/\r?\n/);
    return [line];
  } catch {
    return [];
  }
}
