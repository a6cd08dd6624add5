import { execa } from 'execa';
import { withoutPassphrase } from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';

/** How a program of the engine ended, and what it printed. */
export interface Called {
  /** The exit code. Undefined if the program could not start. */
  code: number | undefined;
  stdout: string;
  stderr: string;
}

export interface CallOptions {
  /** Variables that are added to this process's environment. */
  env?: Readonly<Record<string, string>>;
  cwd?: string;
  signal?: AbortSignal | undefined;
  /** Default: 60. */
  timeoutSeconds?: number;
}

/** Maximum size in bytes of the output that is kept. */
const LONGEST_ANSWER = 16 * 1024 * 1024;

/**
 * Runs a program of the container engine to its end, without a terminal or input. Does not throw if the program fails.
 *
 * @throws IDKIT_UNREACHABLE if the program does not end in time; the signal's reason if the signal is aborted
 */
export async function callProgram(
  file: string,
  args: readonly string[],
  options: CallOptions = {},
): Promise<Called> {
  const { env = {}, cwd, signal, timeoutSeconds = 60 } = options;
  const result = await execa(file, args, {
    reject: false,
    stdin: 'ignore',
    // The engine can pass any variable that compose.yaml names to a container, so the passphrase is removed.
    env: { ...withoutPassphrase(process.env), ...env },
    extendEnv: false,
    timeout: timeoutSeconds * 1000,
    maxBuffer: LONGEST_ANSWER,
    ...(cwd === undefined ? {} : { cwd }),
    ...(signal === undefined ? {} : { cancelSignal: signal }),
  });
  if (signal?.aborted === true) throw signal.reason;
  if (result.timedOut) {
    const what = [file, ...args].slice(0, 3).join(' ');
    throw new IdkitError('IDKIT_UNREACHABLE', `${what} did not end within ${timeoutSeconds} s`, {
      hints: ['the container engine does not respond; read its log'],
    });
  }
  return { code: result.exitCode, stdout: result.stdout, stderr: result.stderr };
}

/** Returns the last non-empty line of the output, for a message. */
export function lastLine({ stdout, stderr }: Called): string {
  const lines = `${stdout}\n${stderr}`.split('\n').map((line) => line.trim());
  return lines.findLast((line) => line !== '') ?? 'it printed no explanation';
}
