import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { platformPaths, readEnvFile, type Settings } from '../../config/index.ts';
import { IdkitError, systemErrorCode } from '../../core/index.ts';
import { parseCommandWords } from './command-words.ts';

/** Number of output lines that an error shows. */
const SHOWN_LINES = 12;

/** A command from idkit.yaml that is running. */
export interface OperatorCommand {
  /**
   * Resolves when the command succeeds. If the command fails, rejects with IDKIT_FAILED and the last lines of output.
   * If the program does not exist, rejects with IDKIT_VERSION.
   */
  ended: Promise<void>;
  /** Allows this process to end while the command is still running. */
  release(): void;
  /** Ends the command and its process group. */
  kill(): void;
  /** Returns the last lines of the command's output. */
  tail(): string;
}

/**
 * Starts `keycloak.start` or `keycloak.stop` in the platform directory, without a shell. The command has its own
 * process group and writes to `data/keycloak-start.log` or `-stop.log`, so that it may outlive this process.
 *
 * @throws IDKIT_SETTING for a command that cannot be parsed
 */
export function runOperatorCommand(
  settings: Settings,
  which: 'start' | 'stop',
  text: string,
): OperatorCommand {
  const [program, ...args] = parseCommandWords(text, `keycloak.${which}`);
  const { data } = platformPaths(settings.dir);
  mkdirSync(data, { recursive: true, mode: 0o700 });
  const log = join(data, `keycloak-${which}.log`);
  const output = openSync(log, 'a', 0o600);
  const from = statSync(log).size;
  // The command writes directly to the file, so that it does not depend on this process.
  const child = spawn(program, args, {
    cwd: settings.dir,
    env: commandEnvironment(settings),
    detached: true,
    stdio: ['ignore', output, output],
  });
  closeSync(output);
  const tail = () =>
    readFileSync(log).subarray(from).toString('utf8').trimEnd().split('\n').slice(-SHOWN_LINES).join('\n');
  const ended = new Promise<void>((resolve, reject) => {
    child.once('error', (cause) => {
      const missing = systemErrorCode(cause) === 'ENOENT';
      const message = `${program}, the program of keycloak.${which}, ${missing ? 'does not exist' : `cannot run: ${cause.message}`}`;
      reject(new IdkitError(missing ? 'IDKIT_VERSION' : 'IDKIT_FAILED', message, { cause }));
    });
    child.once('exit', (code, signal) => {
      if (code === 0) return resolve();
      const how = code === null ? `was ended by ${signal}` : `ended with exit code ${code}`;
      const hints = [`its output is in ${log}`, ...tail().split('\n').filter(Boolean)];
      reject(new IdkitError('IDKIT_FAILED', `keycloak.${which} ${how}`, { hints }));
    });
  });
  // Not every caller awaits `ended`. If the command fails, the service does not become ready, which the caller reports.
  ended.catch(() => undefined);
  return {
    ended,
    release: () => child.unref(),
    kill: () => {
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGTERM');
    },
    tail,
  };
}

/**
 * Returns the environment for the operator's commands: this process's environment and the variables of `.env`, without
 * idkit's own. The current credentials are added under Keycloak's names, so that Keycloak uses those of a restored
 * `.env`.
 */
function commandEnvironment(settings: Settings): NodeJS.ProcessEnv {
  const own = (name: string) => name.startsWith('IDKIT_');
  const kept = readEnvFile(platformPaths(settings.dir).env);
  const environment: NodeJS.ProcessEnv = {
    ...Object.fromEntries([...kept].filter(([name]) => !own(name))),
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !own(name))),
  };
  const { username, password } = settings.administrator;
  const { databasePassword } = settings;
  if (databasePassword !== undefined) environment['KC_DB_PASSWORD'] ??= databasePassword.reveal();
  if (password !== undefined && environment['KC_BOOTSTRAP_ADMIN_PASSWORD'] === undefined) {
    environment['KC_BOOTSTRAP_ADMIN_USERNAME'] ??= username;
    environment['KC_BOOTSTRAP_ADMIN_PASSWORD'] = password.reveal();
  }
  return environment;
}
