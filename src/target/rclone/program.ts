import { type ChildProcess, spawn } from 'node:child_process';
import { IdkitError, systemErrorCode } from '../../core/index.ts';
import { hostile, printable, unreachable } from '../faults.ts';
import { withoutSecrets } from '../program-environment.ts';

const MOST_ERROR_BYTES = 8192;
const MOST_TEXT_BYTES = 1024 * 1024;
const MOST_LINE_BYTES = 64 * 1024;

/** rclone ended with an error. */
export class RcloneFailure extends IdkitError {
  /** Whether the file or its directory does not exist. Exit codes 3 and 4 of rclone. */
  readonly isMissing: boolean;

  constructor(label: string, code: number | string | null, errors: string) {
    const text = lastError(errors);
    const isFull = /no space left|quota|insufficient.*storage/i.test(text);
    const isDenied =
      /access ?denied|permission denied|unauthorized|invalid.*(?:key|token|credential)|\b40[13]\b|unable to authenticate/i.test(
        text,
      );
    const isConfiguration = /didn't find section in config file|couldn't find config|unknown flag/i.test(
      text,
    );
    const kind = isFull
      ? 'IDKIT_NO_SPACE'
      : isConfiguration
        ? 'IDKIT_SETTING'
        : isDenied
          ? 'IDKIT_CREDENTIALS'
          : 'IDKIT_UNREACHABLE';
    super(
      kind,
      `${label}: rclone ended with ${code}: ${text === '' ? 'it printed no error' : printable(text, 300)}`,
    );
    this.isMissing = code === 3 || code === 4;
  }
}

interface CallOptions {
  signal?: AbortSignal | undefined;
}

export interface Rclone {
  /** Runs rclone to its end. `input` becomes its standard input. */
  run(args: readonly string[], options?: CallOptions & { input?: AsyncIterable<Uint8Array> }): Promise<void>;
  /** Returns the output, at most 1 MiB. */
  text(args: readonly string[], options?: CallOptions): Promise<string>;
  /** Yields the lines of the output. */
  lines(args: readonly string[], options?: CallOptions): AsyncGenerator<string>;
  /** Yields the output. @throws IDKIT_DAMAGED after more than `mostBytes` */
  output(args: readonly string[], options: CallOptions & { mostBytes: number }): AsyncGenerator<Buffer>;
}

/** Calls the rclone of the operator. A process without output or input for `stallMilliseconds` is ended. */
export function createRclone(options: {
  label: string;
  env: Readonly<Record<string, string | undefined>>;
  stallMilliseconds: number;
}): Rclone {
  const { label, stallMilliseconds } = options;
  const seconds = Math.max(1, Math.round(stallMilliseconds / 1000));
  const fixed = [
    ...['--use-json-log=false', '--log-level', 'ERROR', '--stats', '0', '--ask-password=false'],
    ...[
      '--contimeout',
      `${Math.min(seconds, 30)}s`,
      '--timeout',
      `${seconds}s`,
      '--low-level-retries',
      '4',
      '--retries',
      '1',
    ],
  ];
  const env = rcloneEnvironment(options.env);

  function start(args: readonly string[], signal: AbortSignal | undefined, input: boolean) {
    signal?.throwIfAborted();
    const child = spawn('rclone', [...fixed, ...args], {
      env,
      stdio: [input ? 'pipe' : 'ignore', 'pipe', 'pipe'],
    });
    return watch(child, label, { signal, stallMilliseconds });
  }

  async function* output(
    args: readonly string[],
    { signal, mostBytes }: CallOptions & { mostBytes: number },
  ): AsyncGenerator<Buffer> {
    const running = start(args, signal, false);
    let bytes = 0;
    try {
      for await (const chunk of running.child.stdout as AsyncIterable<Buffer>) {
        running.touch();
        bytes += chunk.length;
        if (bytes > mostBytes) throw hostile(label, 'rclone printed more bytes than expected');
        yield chunk;
        running.touch();
      }
      await running.ended;
    } finally {
      running.stop();
    }
  }

  return {
    output,
    async run(args, { signal, input } = {}) {
      const running = start(args, signal, input !== undefined);
      running.child.stdout?.resume();
      try {
        if (input !== undefined) await feed(running, input);
        await running.ended;
      } finally {
        running.stop();
        await running.ended.catch(() => {});
      }
    },
    async text(args, { signal } = {}) {
      const chunks: Buffer[] = [];
      for await (const chunk of output(args, { signal, mostBytes: MOST_TEXT_BYTES })) chunks.push(chunk);
      return Buffer.concat(chunks).toString('utf8');
    },
    async *lines(args, { signal } = {}) {
      let rest = '';
      const decoder = new TextDecoder();
      for await (const chunk of output(args, { signal, mostBytes: Number.POSITIVE_INFINITY })) {
        const lines = `${rest}${decoder.decode(chunk, { stream: true })}`.split('\n');
        rest = lines.pop() ?? '';
        if (rest.length > MOST_LINE_BYTES) throw hostile(label, 'rclone printed an endless line');
        yield* lines;
      }
      if (rest !== '') yield rest;
    },
  };
}

interface Running {
  child: ChildProcess;
  /** Rejects if rclone fails. */
  ended: Promise<void>;
  touch(): void;
  stop(): void;
}

function watch(
  child: ChildProcess,
  label: string,
  { signal, stallMilliseconds }: { signal: AbortSignal | undefined; stallMilliseconds: number },
): Running {
  let errors = '';
  let reason: unknown;
  let last = performance.now();
  const end = (why: unknown) => {
    reason ??= why;
    child.kill('SIGKILL');
  };
  const timer = setInterval(
    () => {
      if (performance.now() - last > stallMilliseconds)
        end(unreachable(label, `rclone made no progress for ${Math.round(stallMilliseconds / 1000)} s`));
    },
    Math.min(1000, stallMilliseconds),
  );
  timer.unref();
  const abort = () => end(signal?.reason);
  signal?.addEventListener('abort', abort, { once: true });
  child.stderr?.on('data', (chunk: Buffer) => {
    errors = `${errors}${chunk.toString('utf8')}`.slice(-MOST_ERROR_BYTES);
  });
  child.stdin?.on('error', () => {});
  const ended = new Promise<void>((resolve, reject) => {
    const settle = (work: () => void) => {
      clearInterval(timer);
      signal?.removeEventListener('abort', abort);
      work();
    };
    child.on('error', (error) => settle(() => reject(spawnFault(label, error))));
    child.on('close', (code, killed) =>
      settle(() => {
        if (reason !== undefined) reject(reason);
        else if (code === 0) resolve();
        else reject(new RcloneFailure(label, code ?? killed, errors));
      }),
    );
  });
  ended.catch(() => {});
  return {
    child,
    ended,
    touch: () => {
      last = performance.now();
    },
    stop: () => {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    },
  };
}

/** Writes the input. rclone is killed if the input fails, so that it never takes the fault for the end of the file. */
async function feed(running: Running, input: AsyncIterable<Uint8Array>): Promise<void> {
  const { child, ended } = running;
  const stdin = child.stdin;
  if (stdin === null) return;
  for await (const chunk of input) {
    running.touch();
    if (child.exitCode !== null || child.signalCode !== null) return ended;
    if (!stdin.write(chunk))
      await Promise.race([new Promise((resolve) => stdin.once('drain', resolve)), ended]);
  }
  stdin.end();
}

/** `AWS_CA_BUNDLE` is left out: rclone then needs AWS_CA_BUNDLE's file for every remote and fails for those without S3. */
function rcloneEnvironment(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const { AWS_CA_BUNDLE: _, ...rest } = withoutSecrets(env);
  return rest;
}

function lastError(errors: string): string {
  const lines = errors
    .split('\n')
    .map((line) => line.replace(/^\d{4}\/\d\d\/\d\d \d\d:\d\d:\d\d\s+/, '').trim())
    .filter((line) => line !== '' && !/^(?:Usage:|Use ")/.test(line));
  return lines.at(-1) ?? '';
}

function spawnFault(label: string, error: unknown): IdkitError {
  const missing = systemErrorCode(error) === 'ENOENT';
  return new IdkitError(
    'IDKIT_VERSION',
    `${label}: the program rclone ${missing ? 'is not installed' : 'cannot be started'}`,
    {
      hints: ['install rclone and configure the remote with rclone config'],
      cause: error,
    },
  );
}
