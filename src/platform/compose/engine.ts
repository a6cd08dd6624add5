import { mkdir, readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { platformPaths, replaceFile, type Settings } from '../../config/index.ts';
import { IdkitError, systemErrorCode } from '../../core/index.ts';
import { type Called, type CallOptions, callProgram, lastLine } from './call.ts';

/** A container engine that answers. */
export interface Engine {
  kind: 'docker' | 'podman';
  /** Runs the engine's own command line. */
  call(args: readonly string[], options?: CallOptions): Promise<Called>;
  /** The engine's own program, for what is streamed through it. */
  program: string;
  /**
   * The program that reads compose files, asked for at the first call.
   *
   * @throws IDKIT_VERSION where there is none
   */
  findCompose(): Promise<ComposeProgram>;
}

/** `docker compose`, `docker-compose` or `podman-compose`. */
export interface ComposeProgram {
  file: string;
  /** What stands before its own arguments. */
  args: readonly string[];
  /** Where it tells one. */
  version?: string;
}

/** Seconds that an engine may take to say that it is there. */
const PATIENCE = 20;

const INSTALL = 'Debian: apt-get install docker.io docker-compose, or podman podman-compose';

/** Variables that decide which engine a program reaches. */
const SETTLED_BY = ['PATH', 'DOCKER_HOST', 'CONTAINERS_CONF'];

/** Engines that answered, so that one command asks once. */
const found = new Map<string, Engine>();

/** Why an engine cannot be used. */
interface Fault {
  kind: 'missing' | 'silent';
  message: string;
  hints: readonly string[];
}

/**
 * The engine that `compose.engine` names, else Docker or Podman, whichever answers; each is asked, since a program
 * that is there need not have a daemon behind it.
 *
 * @throws IDKIT_VERSION (14) where none is installed; IDKIT_UNREACHABLE (15) where one is and does not answer, or not
 *   to this user
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
      message: 'this user may not talk to the Docker daemon (permission denied)',
      hints: ['add the user to the group docker and log in again, or run idkit as root'],
    };
  }
  return {
    kind: 'silent',
    message: `the Docker daemon does not answer: ${lastLine(asked)}`,
    hints: ['start it: systemctl start docker', 'DOCKER_HOST says where it listens'],
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
    hints: ['podman info tells more'],
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
    `${program} answers, and there is no ${names.join(' and no ')} to read compose.yaml with`,
    {
      hints: [
        kind === 'docker'
          ? 'Debian: apt-get install docker-compose; elsewhere the plugin docker-compose-plugin'
          : 'Debian: apt-get install podman-compose',
      ],
    },
  );
}

/**
 * The engine of this platform: the one that idkit.yaml names, else the one that its containers were started with last,
 * else whichever answers. Where the other one happens to answer alone, it knows nothing of the data.
 *
 * @throws as `findEngine`; says which engine was looked for and how another is taken
 */
export async function findOwnEngine(settings: Settings): Promise<Engine> {
  const { engine: named } = settings.compose;
  const started = named === null ? await readStarted(settings) : undefined;
  if (started === undefined) return findEngine(named);
  try {
    return await findEngine(started);
  } catch (cause) {
    if (!(cause instanceof IdkitError)) throw cause;
    const hint = `this platform was started with ${started}; compose: { engine: NAME } in idkit.yaml takes another`;
    throw new IdkitError(cause.code, cause.message, { hints: [...cause.hints, hint], cause });
  }
}

/** Keeps which engine the containers of a platform were started with. */
export async function putStarted(settings: Settings, { kind }: Pick<Engine, 'kind'>): Promise<void> {
  if ((await readStarted(settings)) === kind) return;
  const file = recordFile(settings);
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  replaceFile(file, `${kind}\n`, 0o600);
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
