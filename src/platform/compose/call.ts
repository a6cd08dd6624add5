import { execa } from 'execa';
import { withoutPassphrase } from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';

/** What a program of the engine answered. */
export interface Called {
  /** Undefined where it could not be started. */
  code: number | undefined;
  stdout: string;
  stderr: string;
}

export interface CallOptions {
  /** Beside this process's own. */
  env?: Readonly<Record<string, string>>;
  cwd?: string;
  signal?: AbortSignal | undefined;
  /** 60 unless told. */
  timeoutSeconds?: number;
}

/** Bytes of an answer that are kept. */
const LONGEST_ANSWER = 16 * 1024 * 1024;

/**
 * Runs a program of the container engine to its end, without a terminal and without input. What it answers is not
 * judged here.
 *
 * @throws IDKIT_UNREACHABLE where it does not end in time; the signal's reason once that is aborted
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
    // compose.yaml may name any variable, and the engine gives it to containers.
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
      hints: ['the container engine hangs; look at its own log'],
    });
  }
  return { code: result.exitCode, stdout: result.stdout, stderr: result.stderr };
}

/** The last line that says something, for a message. */
export function lastLine({ stdout, stderr }: Called): string {
  const lines = `${stdout}\n${stderr}`.split('\n').map((line) => line.trim());
  return lines.findLast((line) => line !== '') ?? 'no word of explanation';
}
