import { readFileSync } from 'node:fs';
import { IdkitError, Secret, systemErrorCode } from '../core/index.ts';

/**
 * The variables that contain the passphrase or name its source. `.env` must not set them, because a backup includes
 * `.env`.
 */
export const PASSPHRASE_VARIABLES = [
  'IDKIT_BACKUP_PASSPHRASE',
  'IDKIT_BACKUP_PASSPHRASE_FILE',
  'IDKIT_BACKUP_PASSPHRASE_COMMAND',
] as const;
/** The variables for the passphrase of the private key that `--key` names. */
export const KEY_PASSPHRASE_VARIABLES = [
  'IDKIT_BACKUP_KEY_PASSPHRASE',
  'IDKIT_BACKUP_KEY_PASSPHRASE_FILE',
  'IDKIT_BACKUP_KEY_PASSPHRASE_COMMAND',
] as const;
type Sources = readonly [value: string, file: string, command: string];
const [VALUE, FILE, COMMAND] = PASSPHRASE_VARIABLES;
const MAX_LINE_BYTES = 65_536;

/** Returns the environment without the passphrase and its sources, for a program that does not need them. */
export function withoutPassphrase(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const names: readonly string[] = [...PASSPHRASE_VARIABLES, ...KEY_PASSPHRASE_VARIABLES];
  return Object.fromEntries(Object.entries(env).filter(([name]) => !names.includes(name)));
}

export interface PassphraseOptions {
  env?: NodeJS.ProcessEnv;
  /** Prompts for the passphrase without echo. Absent if there is no terminal. An empty passphrase is an error. */
  prompt?: (() => Promise<string>) | undefined;
  signal?: AbortSignal;
}

/**
 * Finds the passphrase of backups. Exactly one source may be set: `IDKIT_BACKUP_PASSPHRASE`, a file in `…_FILE`, or a
 * command in `…_COMMAND`. idkit reads the first line of the file or of the command's output. Without a source, it
 * prompts.
 *
 * @returns undefined if there is neither a source nor a prompt
 * @throws IDKIT_SETTING for two sources, and for a source that is empty or cannot be read
 */
export async function findPassphrase(options: PassphraseOptions = {}): Promise<Secret | undefined> {
  return findIn(PASSPHRASE_VARIABLES, options);
}

/** Finds the passphrase of a private key by the same rules, in `IDKIT_BACKUP_KEY_PASSPHRASE` and its sources. */
export async function findKeyPassphrase(options: PassphraseOptions = {}): Promise<Secret | undefined> {
  return findIn(KEY_PASSPHRASE_VARIABLES, options);
}

async function findIn(sources: Sources, options: PassphraseOptions): Promise<Secret | undefined> {
  const [valueName, fileName, commandName] = sources;
  const env = options.env ?? process.env;
  const given = sources.filter((name) => env[name] !== undefined);
  if (given.length > 1) {
    throw new IdkitError('IDKIT_SETTING', `${given.join(' and ')} are set, but only one source is allowed`);
  }
  const [name] = given;
  if (name === undefined) {
    if (options.prompt === undefined) return undefined;
    return checkPassphrase(await options.prompt(), 'the terminal');
  }
  const value = env[name] ?? '';
  if (name === valueName) return checkPassphrase(value, name);
  if (value === '') throw new IdkitError('IDKIT_SETTING', `${name} is empty`);
  if (name === fileName)
    return checkPassphrase(readFirstLine(fileName, value), `the file that ${fileName} names`);
  return checkPassphrase(
    await runCommand(commandName, value, options.signal),
    `the command in ${commandName}`,
  );
}

/**
 * Works like `findPassphrase`, but throws if there is no passphrase.
 *
 * @throws IDKIT_SETTING
 */
export async function readPassphrase(options: PassphraseOptions = {}): Promise<Secret> {
  const passphrase = await findPassphrase(options);
  if (passphrase !== undefined) return passphrase;
  throw new IdkitError('IDKIT_SETTING', 'the passphrase of env.gpg is missing', {
    hints: [
      `set ${VALUE} in the process environment`,
      `or set ${FILE} to a file whose first line is the passphrase`,
      `or set ${COMMAND} to a command that prints it`,
    ],
  });
}

function checkPassphrase(text: string, source: string): Secret {
  if (text === '') throw new IdkitError('IDKIT_SETTING', `the passphrase from ${source} is empty`);
  if (/[\0\r\n]/.test(text)) {
    throw new IdkitError(
      'IDKIT_SETTING',
      `the passphrase from ${source} has more than one line, or contains a NUL byte`,
    );
  }
  return new Secret(text);
}

/** Returns the error for a file that a `…_FILE` variable names. */
export function unreadableFile(variable: string, file: string, cause: unknown): IdkitError {
  const code = systemErrorCode(cause);
  return new IdkitError(
    'IDKIT_SETTING',
    `${variable} names ${file}, which cannot be read${code === undefined ? '' : ` (${code})`}`,
    {
      cause,
      ...(code === 'EACCES'
        ? { hints: ['run the command as the owner of the file, or give the file to the user of the command'] }
        : {}),
    },
  );
}

function readFirstLine(variable: string, file: string): string {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    throw unreadableFile(variable, file, error);
  }
  return firstLine(bytes.subarray(0, MAX_LINE_BYTES));
}

function firstLine(bytes: Buffer): string {
  const [line = ''] = bytes.toString('utf8').split('\n');
  return line.endsWith('\r') ? line.slice(0, -1) : line;
}

/** Runs the operator's command in a shell. The command inherits stderr, so that it can prompt and report errors. */
async function runCommand(
  variable: string,
  command: string,
  signal: AbortSignal | undefined,
): Promise<string> {
  // Import lazily: a starting service does not run a command, so it need not load this module.
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
      else
        reject(new IdkitError('IDKIT_SETTING', `the command in ${variable} did not run`, { cause: error }));
    });
    child.on('close', (code, killedBy) => {
      if (code === 0) resolve(firstLine(Buffer.concat(chunks)));
      else {
        const end = code === null ? `was ended by ${killedBy}` : `failed with exit code ${code}`;
        reject(new IdkitError('IDKIT_SETTING', `the command in ${variable} ${end}`));
      }
    });
  });
}
