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

/** Names one run among the processes of the container. */
const MARK = 'IDKIT_RUN';

/** Kills what carries the mark `$1`; a shell and grep are in every image of Postgres. */
const KILL_MARKED =
  'for d in /proc/[0-9]*; do grep -qs "$1" "$d/environ" && kill -9 "$(basename "$d")"; done; true';

/** What engines give as the exit code of a program that SIGKILL ended. */
const KILLED = 137;

/** Seconds of one question to the container. */
const PATIENCE = 60;

/**
 * `psql` and `pg_dump` inside the database's container, by the server's own socket: no port is published and no
 * client is needed on this machine. Never with a terminal, which would change line ends.
 */
export function openContainerPrograms(
  service: string,
  find: () => Promise<{ engine: Engine; id: string }>,
): PostgresPrograms {
  let known: { engine: Engine; id: string } | undefined;
  const database = async () => {
    // A container that was made anew meanwhile has another id.
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

/** The running container of the database. @throws IDKIT_UNREACHABLE that says what there is instead */
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
      hints: ['idkit up starts it', `${engine.kind} logs ${found.id.slice(0, 12)} tells more`],
    });
  }
  const others = (await listProjects(engine)).filter((name) => name !== project);
  return new IdkitError(
    'IDKIT_UNREACHABLE',
    `there is no container of ${service} in the compose project ${project}`,
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

/** The version of libpq from which on it refuses methods that it was not allowed (`require_auth`). */
const KNOWS_METHODS = 160_000;
const NO_PASSWORD = /no password supplied/;

/**
 * What libpq needs beside the server. An older one gets no password: it would send it in whatever way the server asks
 * for. The public image asks nobody for one on its own socket.
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
    `the database server in its container asks ${address.user} for a password, and ${program} ${showVersion(version)} there cannot be held to SCRAM-SHA-256: the password was not sent`,
    {
      hints: [
        'take an image of Postgres 16 or newer, whose psql can',
        'or let the container’s own socket in without a password: local all all trust in pg_hba.conf, as the public image has it',
      ],
    },
  );
}

/**
 * Runs a program that reads nothing, and ends it where its standard input ends: with the process that wants its output,
 * however that ends. The shell waits for both of its children: one that it left behind would become a child of process
 * 1, which is Postgres itself and takes any child that a signal ended for a crash of its own. `$0` marks the program.
 */
const WATCHED = `exec 3<&0
${MARK}=$0 "$@" 3<&- </dev/null & run=$!
{ read -r _ <&3; kill -9 $run; } 2>/dev/null & watch=$!
wait $run; code=$?
kill $watch 2>/dev/null; wait $watch 2>/dev/null
exit $code`;

/** Starts a program in a container. Values of variables go by the engine's own environment, never by an argument. */
function run(
  engine: Engine,
  id: string,
  command: readonly string[],
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
    // Ctrl-C in the terminal is idkit's to hear: it ends the program after what the program works on is in order.
    detached: true,
  });
  const watched = watchChild(child);
  let killed: Promise<Called | undefined> | undefined;
  return {
    ...watched,
    // Its end is what ends the program.
    stdin: isRead ? watched.stdin : new PassThrough().resume(),
    ended: watched.ended.then(async (end) => {
      // Nothing in a paused container is ended, and nothing of it comes out.
      if (/paused/.test((await killed)?.stderr ?? ''))
        return { ...end, unreached: pausedFault(engine, { id, service }) };
      if (NO_PASSWORD.test(end.stderr) && version < KNOWS_METHODS)
        return { ...end, unreached: cannotBeHeld(command[0]!, version, target) };
      if (killed !== undefined || end.code !== KILLED) return end;
      // A container that is killed takes what runs in it along, without a word.
      return { ...end, stderr: `${end.stderr}${command[0]} was ended inside the container\n` };
    }),
    kill() {
      watched.kill();
      // The engine's client is not the program: that goes on inside the container.
      killed ??= engine
        .call(['exec', id, 'sh', '-c', KILL_MARKED, 'sh', `${MARK}=${mark}`])
        .catch(() => undefined);
    },
  };
}
