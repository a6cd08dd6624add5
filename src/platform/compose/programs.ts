import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { PassThrough } from 'node:stream';
import { withoutPassphrase } from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';
import {
  connectSeconds,
  type PostgresPrograms,
  type ProgramTarget,
  parseProgramVersion,
  type RunningProgram,
  showVersion,
  watchChild,
} from '../../pgtools/index.ts';
import { type Called, lastLine } from './call.ts';
import { type Container, listContainers, listProjects, pausedFault } from './containers.ts';
import type { Engine } from './engine.ts';

/** The environment variable that marks the processes of one call inside the container. */
const MARK = 'IDKIT_RUN';

/** Kills every process with the mark `$1`. Every Postgres image contains a shell and grep. */
const KILL_MARKED =
  'for d in /proc/[0-9]*; do grep -qs "$1" "$d/environ" && kill -9 "$(basename "$d")"; done; true';

/** The exit code that an engine reports if SIGKILL ended the program. */
const KILLED = 137;

/** Timeout in seconds of one call to the container. */
const PATIENCE = 60;

/**
 * Runs `psql` and `pg_dump` inside the database's container over the server's own socket. This needs no published port
 * and no Postgres client on this machine. The programs have no terminal, because a terminal would change line endings.
 */
export function openContainerPrograms(
  service: string,
  find: () => Promise<{ engine: Engine; id: string }>,
): PostgresPrograms {
  let known: { engine: Engine; id: string } | undefined;
  const database = async () => {
    // If the container was replaced in the meantime, the new container has another id and must be found again.
    if (known === undefined || !(await isRunning(known))) known = await find();
    return known;
  };
  return {
    async find(program) {
      const { engine, id } = await database();
      const asked = await engine.call(['exec', id, program, '--version'], { timeoutSeconds: PATIENCE });
      const version = asked.code === 0 ? parseProgramVersion(asked.stdout) : undefined;
      if (version === undefined) {
        throw new IdkitError(
          'IDKIT_VERSION',
          `the container of ${service} has no ${program}: ${lastLine(asked)}`,
          {
            hints: ['the public image postgres has it; compose.yaml names the image'],
          },
        );
      }
      return {
        version,
        start: async (args, target) => run(engine, id, [program, ...args], { version, target, service }),
      };
    },
    async freeBytes(directory) {
      const { engine, id } = await database();
      const asked = await engine.call(['exec', id, 'df', '-P', '-k', directory], {
        timeoutSeconds: PATIENCE,
      });
      const [, , , , kilobytes] = /\n(\S+) +(\d+) +(\d+) +(\d+)/.exec(asked.stdout) ?? [];
      return asked.code === 0 && kilobytes !== undefined ? Number(kilobytes) * 1024 : undefined;
    },
  };
}

async function isRunning({ engine, id }: { engine: Engine; id: string }): Promise<boolean> {
  const asked = await engine.call(['container', 'inspect', '--format', '{{.State.Status}}', id]);
  return asked.code === 0 && asked.stdout.trim() === 'running';
}

/**
 * Finds the running container of the database.
 *
 * @throws IDKIT_UNREACHABLE that names the state of the container, or the projects that exist
 */
export async function findDatabase(
  engine: Engine,
  service: string,
  project: string,
): Promise<{ engine: Engine; id: string }> {
  const found = (await listContainers(engine, project)).find((container) => container.service === service);
  if (found?.state === 'running') return { engine, id: found.id };
  throw await notRunning(engine, found, service, project);
}

async function notRunning(
  engine: Engine,
  found: Container | undefined,
  service: string,
  project: string,
): Promise<IdkitError> {
  if (found?.state === 'paused') return pausedFault(engine, found);
  if (found !== undefined) {
    return new IdkitError('IDKIT_UNREACHABLE', `the container of ${service} is ${found.state}`, {
      hints: ['idkit up starts it', `${engine.kind} logs ${found.id.slice(0, 12)} shows more`],
    });
  }
  const others = (await listProjects(engine)).filter((name) => name !== project);
  return new IdkitError(
    'IDKIT_UNREACHABLE',
    `the compose project ${project} has no container of ${service}`,
    {
      hints: [
        'idkit up starts it',
        ...(others.length === 0
          ? []
          : [`compose.project in idkit.yaml names the project; ${engine.kind} has ${others.join(', ')}`]),
      ],
    },
  );
}

/** The first version of libpq that rejects every authentication method that `require_auth` does not name. */
const KNOWS_METHODS = 160_000;
const NO_PASSWORD = /no password supplied/;

/**
 * Returns the environment variables for libpq. A libpq that does not enforce `require_auth` gets no password, because
 * it would send the password with any method that the server requests. On its own socket, the public image requests no
 * password.
 */
function containerEnvironment(
  { address, password, applicationName }: ProgramTarget,
  version: number,
): Record<string, string> {
  const secret = password ?? address.password;
  return {
    PGUSER: address.user,
    PGAPPNAME: applicationName,
    PGCONNECT_TIMEOUT: String(connectSeconds(address)),
    PGREQUIREAUTH: address.requireAuth.join(','),
    ...(secret === undefined || version < KNOWS_METHODS ? {} : { PGPASSWORD: secret.reveal() }),
  };
}

function cannotBeHeld(program: string, version: number, { address }: ProgramTarget): IdkitError {
  return new IdkitError(
    'IDKIT_PASSWORD_METHOD',
    `the database server in its container requests a password for ${address.user}, but ${program} ${showVersion(version)} there cannot enforce SCRAM-SHA-256, so the password was not sent`,
    {
      hints: [
        'use an image of Postgres 16 or newer, whose psql can enforce it',
        'or trust the container’s own socket: local all all trust in pg_hba.conf, as in the public image',
      ],
    },
  );
}

/**
 * Runs a program that reads no input. When the calling process ends, standard input closes, and the shell kills the
 * program. The shell waits for both of its children, because an orphan would become a child of process 1, which is
 * Postgres itself: if a signal ends such a child, Postgres mistakes that for a crash. `$0` is the program's mark.
 */
const WATCHED = `exec 3<&0
${MARK}=$0 "$@" 3<&- </dev/null & run=$!
{ read -r _ <&3; kill -9 $run; } 2>/dev/null & watch=$!
wait $run; code=$?
kill $watch 2>/dev/null; wait $watch 2>/dev/null
exit $code`;

/**
 * Starts a program in a container. The values of variables are passed in the engine's environment, never in arguments.
 */
function run(
  engine: Engine,
  id: string,
  command: readonly [string, ...string[]],
  { version, target, service }: { version: number; target: ProgramTarget; service: string },
): RunningProgram {
  const mark = randomBytes(12).toString('hex');
  const inside = {
    LC_ALL: 'C',
    PGCLIENTENCODING: 'UTF8',
    ...containerEnvironment(target, version),
  };
  const isRead = command[0] !== 'pg_dump';
  const marked = isRead ? ['env', `${MARK}=${mark}`, ...command] : ['sh', '-c', WATCHED, mark, ...command];
  const names = Object.keys(inside).flatMap((name) => ['-e', name]);
  const child = spawn(engine.program, ['exec', '-i', ...names, id, ...marked], {
    env: { ...withoutPassphrase(process.env), ...inside },
    stdio: ['pipe', 'pipe', 'pipe'],
    // idkit handles Ctrl-C itself: it first restores a consistent state, then ends the program.
    detached: true,
  });
  const watched = watchChild(child);
  let killed: Promise<Called | undefined> | undefined;
  return {
    ...watched,
    // pg_dump reads no input; it ends when this stream closes.
    stdin: isRead ? watched.stdin : new PassThrough().resume(),
    ended: watched.ended.then(async (end) => {
      // In a paused container no program ends, so the engine's calls for that container never return.
      if (/paused/.test((await killed)?.stderr ?? ''))
        return { ...end, unreached: pausedFault(engine, { id, service }) };
      if (NO_PASSWORD.test(end.stderr) && version < KNOWS_METHODS)
        return { ...end, unreached: cannotBeHeld(command[0], version, target) };
      if (killed !== undefined || end.code !== KILLED) return end;
      // If the container is killed, its programs end without a message.
      return { ...end, stderr: `${end.stderr}${command[0]} was ended inside the container\n` };
    }),
    kill() {
      watched.kill();
      // Killing the engine's client does not end the program inside the container, so that program is killed
      // separately.
      killed ??= engine
        .call(['exec', id, 'sh', '-c', KILL_MARKED, 'sh', `${MARK}=${mark}`])
        .catch(() => undefined);
    },
  };
}
