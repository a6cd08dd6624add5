import { mkdir, readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { platformPaths, type Settings } from '../../config/index.ts';
import { IdkitError, systemErrorCode } from '../../core/index.ts';
import { replaceFile } from '../../files/index.ts';
import { type Called, type CallOptions, callProgram, lastLine } from './call.ts';

/** A container engine that responds. */
export interface Engine {
  kind: 'docker' | 'podman';
  /** Runs the engine's command line. */
  call(args: readonly string[], options?: CallOptions): Promise<Called>;
  /** The engine's program, for calls that stream data through it. */
  program: string;
  /**
   * Finds the program that reads compose files. Later calls return the same program.
   *
   * @throws IDKIT_VERSION if none is installed
   */
  findCompose(): Promise<ComposeProgram>;
}

/** `docker compose`, `docker-compose` or `podman-compose`. */
export interface ComposeProgram {
  file: string;
  /** Arguments that select the compose plugin; empty for a separate program. */
  args: readonly string[];
  /** Absent if the program does not report its version. */
  version?: string;
}

/** Timeout in seconds for the engine's first response. */
const PATIENCE = 20;

const INSTALL = 'Debian: apt-get install docker.io docker-compose, or podman podman-compose';

/** Variables that decide which engine a program reaches. */
const SETTLED_BY = ['PATH', 'DOCKER_HOST', 'CONTAINERS_CONF'];

/** Caches the engines that responded, so that one command asks each engine only once. */
const found = new Map<string, Engine>();

/** Why an engine is unusable. */
interface Fault {
  kind: 'missing' | 'silent';
  message: string;
  hints: readonly string[];
}

/**
 * Finds the engine that `compose.engine` names, or else Docker or Podman. Its version command must succeed, because an
 * installed program may have no running daemon.
 *
 * @throws IDKIT_VERSION if no engine is installed; IDKIT_UNREACHABLE if it is installed but does not respond to this
 *   user
 */
export async function findEngine(named: string | null): Promise<Engine> {
  const key = [named ?? '', ...SETTLED_BY.map((name) => process.env[name] ?? '')].join('\0');
  const known = found.get(key) ?? (await askEngines(named));
  found.set(key, known);
  return known;
}

async function askEngines(named: string | null): Promise<Engine> {
  const faults: Fault[] = [];
  for (const program of named === null ? ['docker', 'podman'] : [named]) {
    const kind = basename(program).startsWith('podman') ? 'podman' : 'docker';
    const file = program.replace(/-compose$/, '');
    const fault = await (kind === 'docker' ? askDocker(file) : askPodman(file));
    if (fault === undefined) return openEngine(kind, file);
    faults.push(fault);
  }
  const silent = faults.filter((fault) => fault.kind === 'silent');
  throw new IdkitError(
    silent.length === 0 ? 'IDKIT_VERSION' : 'IDKIT_UNREACHABLE',
    (silent.length === 0 ? faults : silent).map(({ message }) => message).join('; '),
    { hints: silent.length === 0 ? [INSTALL] : silent.flatMap(({ hints }) => hints) },
  );
}

function openEngine(kind: Engine['kind'], program: string): Engine {
  let compose: Promise<ComposeProgram> | undefined;
  return {
    kind,
    program,
    call: (args, options) => callProgram(program, args, options),
    findCompose() {
      compose ??= findCompose(kind, program);
      return compose;
    },
  };
}

async function askDocker(file: string): Promise<Fault | undefined> {
  const asked = await callProgram(file, ['version', '--format', '{{.Server.Version}}'], {
    timeoutSeconds: PATIENCE,
  });
  if (asked.code === 0 && asked.stdout.trim() !== '') return undefined;
  if (asked.code === undefined) return missing(file);
  if (/permission denied/i.test(asked.stderr)) {
    return {
      kind: 'silent',
      message: 'this user may not connect to the Docker daemon (permission denied)',
      hints: ['add the user to the group docker and log in again, or run idkit as root'],
    };
  }
  return {
    kind: 'silent',
    message: `the Docker daemon does not respond: ${lastLine(asked)}`,
    hints: ['start it: systemctl start docker', 'DOCKER_HOST sets its address'],
  };
}

async function askPodman(file: string): Promise<Fault | undefined> {
  const asked = await callProgram(file, ['info', '--format', '{{.Version.Version}}'], {
    timeoutSeconds: PATIENCE,
  });
  if (asked.code === 0) return undefined;
  if (asked.code === undefined) return missing(file);
  return {
    kind: 'silent',
    message: `Podman does not work: ${lastLine(asked)}`,
    hints: ['podman info shows more'],
  };
}

function missing(file: string): Fault {
  return { kind: 'missing', message: `${file} is not installed`, hints: [INSTALL] };
}

async function findCompose(kind: Engine['kind'], program: string): Promise<ComposeProgram> {
  const choices: readonly ComposeProgram[] =
    kind === 'docker'
      ? [
          { file: program, args: ['compose'] },
          { file: `${program}-compose`, args: [] },
        ]
      : [{ file: `${program}-compose`, args: [] }];
  for (const choice of choices) {
    const asked = await callProgram(choice.file, [...choice.args, 'version'], { timeoutSeconds: PATIENCE });
    const [, version] = /compose\w* version:?\s+v?(\d[\w.-]*)/i.exec(asked.stdout) ?? [];
    if (asked.code === 0) return { ...choice, ...(version === undefined ? {} : { version }) };
  }
  const names = choices.map(({ file, args }) => [file, ...args].join(' '));
  throw new IdkitError(
    'IDKIT_VERSION',
    `${program} is installed, but idkit needs ${names.join(' or ')} to read compose.yaml`,
    {
      hints: [
        kind === 'docker'
          ? 'Debian: apt-get install docker-compose; other systems: install docker-compose-plugin'
          : 'Debian: apt-get install podman-compose',
      ],
    },
  );
}

/**
 * Finds the engine of this platform: the one in idkit.yaml, or else the one that last started its containers, or else
 * any that responds. Another engine would not have the platform's data.
 *
 * @throws the errors of `findEngine`, with a hint that names the expected engine and how to choose another one
 */
export async function findOwnEngine(settings: Settings): Promise<Engine> {
  const { engine: named } = settings.compose;
  const started = named === null ? await readStarted(settings) : undefined;
  if (started === undefined) return findEngine(named);
  try {
    return await findEngine(started);
  } catch (cause) {
    if (!(cause instanceof IdkitError)) throw cause;
    const hint = `this platform was started with ${started}; set compose: { engine: NAME } in idkit.yaml to use another engine`;
    throw new IdkitError(cause.code, cause.message, { hints: [...cause.hints, hint], cause });
  }
}

/** Records which engine started the containers of a platform. */
export async function putStarted(settings: Settings, { kind }: Pick<Engine, 'kind'>): Promise<void> {
  if ((await readStarted(settings)) === kind) return;
  const file = recordFile(settings);
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  replaceFile(file, `${kind}\n`);
}

function recordFile({ dir }: Settings): string {
  return join(platformPaths(dir).data, 'container-engine');
}

async function readStarted(settings: Settings): Promise<Engine['kind'] | undefined> {
  try {
    const kind = (await readFile(recordFile(settings), 'utf8')).trim();
    return kind === 'docker' || kind === 'podman' ? kind : undefined;
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
