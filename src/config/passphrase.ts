import { readFileSync } from 'node:fs';
import { IdkitError, Secret } from '../core/index.ts';

/** The sources of the passphrase. `.env` must hold none of them, because a backup includes `.env`. */
export const PASSPHRASE_VARIABLES = [
  'IDKIT_BACKUP_PASSPHRASE',
  'IDKIT_BACKUP_PASSPHRASE_FILE',
  'IDKIT_BACKUP_PASSPHRASE_COMMAND',
] as const;
const [VALUE, FILE, COMMAND] = PASSPHRASE_VARIABLES;
const MAX_LINE_BYTES = 65_536;

/** Removes the passphrase and its sources from the environment of a program that does not need it. */
export function withoutPassphrase(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const names: readonly string[] = PASSPHRASE_VARIABLES;
  return Object.fromEntries(Object.entries(env).filter(([name]) => !names.includes(name)));
}

/** The sources of a passphrase. */
export interface PassphraseOptions {
  env?: NodeJS.ProcessEnv;
  /** Prompts on a terminal without echo. Absent if there is no terminal. An empty answer is an error. */
  prompt?: (() => Promise<string>) | undefined;
  signal?: AbortSignal;
}

/**
 * Finds the passphrase of backups in exactly one source: `IDKIT_BACKUP_PASSPHRASE`, the first line of the file in
 * `…_FILE`, the first line that the command in `…_COMMAND` prints, else the terminal.
 *
 * @returns undefined if there is no source
 * @throws IDKIT_SETTING for two sources, or a source that is empty or cannot be read
 */
export async function findPassphrase(options: PassphraseOptions = {}): Promise<Secret | undefined> {
  const env = options.env ?? process.env;
  const given = PASSPHRASE_VARIABLES.filter((name) => env[name] !== undefined);
  if (given.length > 1) {
    throw new IdkitError('IDKIT_SETTING', `${given.join(' and ')} are set, but only one source is allowed`);
  }
  const [name] = given;
  if (name === undefined) {
    if (options.prompt === undefined) return undefined;
    return checkPassphrase(await options.prompt(), 'the passphrase');
  }
  const value = env[name] ?? '';
  if (name === VALUE) return checkPassphrase(value, name);
  if (value === '') throw new IdkitError('IDKIT_SETTING', `${name} is empty`);
  if (name === FILE) return checkPassphrase(readFirstLine(value), `the file of ${FILE}`);
  return checkPassphrase(await runCommand(value, options.signal), `the command of ${COMMAND}`);
}

/**
 * Finds the passphrase as `findPassphrase` does, for work that needs one.
 *
 * @throws IDKIT_SETTING, including if there is no passphrase
 */
export async function readPassphrase(options: PassphraseOptions = {}): Promise<Secret> {
  const passphrase = await findPassphrase(options);
  if (passphrase !== undefined) return passphrase;
  throw new IdkitError('IDKIT_SETTING', 'no passphrase for env.gpg is given', {
    hints: [
      `set ${VALUE} in the process environment`,
      `or ${FILE} to a file that holds it in its first line`,
      `or ${COMMAND} to a command that prints it`,
    ],
  });
}

function checkPassphrase(text: string, source: string): Secret {
  if (text === '') throw new IdkitError('IDKIT_SETTING', `${source} gives an empty passphrase`);
  if (/[\0\r\n]/.test(text)) {
    throw new IdkitError('IDKIT_SETTING', `${source} gives more than one line, or a NUL byte`);
  }
  return new Secret(text);
}

function readFirstLine(file: string): string {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    throw new IdkitError('IDKIT_SETTING', `${FILE} names ${file}, which cannot be read`, { cause: error });
  }
  return firstLine(bytes.subarray(0, MAX_LINE_BYTES));
}

function firstLine(bytes: Buffer): string {
  const [line = ''] = bytes.toString('utf8').split('\n');
  return line.endsWith('\r') ? line.slice(0, -1) : line;
}

/** Runs the operator's command in a shell. Its standard error is ours, so that it can prompt and report errors. */
async function runCommand(command: string, signal: AbortSignal | undefined): Promise<string> {
  // Loaded only here, because a service that starts runs no command.
  const { spawn } = await import('node:child_process');
  return new Promise((resolve, reject) => {
    const child = spawn('/bin/sh', ['-c', command], {
      stdio: ['inherit', 'pipe', 'inherit'],
      ...(signal === undefined ? {} : { signal }),
    });
    const chunks: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.on('error', (error) => {
      if (signal?.aborted) reject(signal.reason);
      else reject(new IdkitError('IDKIT_SETTING', `the command of ${COMMAND} did not run`, { cause: error }));
    });
    child.on('close', (code, killedBy) => {
      if (code === 0) resolve(firstLine(Buffer.concat(chunks)));
      else {
        const end = code === null ? `was ended by ${killedBy}` : `failed with exit code ${code}`;
        reject(new IdkitError('IDKIT_SETTING', `the command of ${COMMAND} ${end}`));
      }
    });
  });
}
