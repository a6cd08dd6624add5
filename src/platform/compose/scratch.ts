import { setTimeout as wait } from 'node:timers/promises';
import type { Settings } from '../../config/index.ts';
import { IdkitError, type Random, Secret } from '../../core/index.ts';
import {
  ADMINISTRATOR,
  makeScratchRole,
  type PostgresPrograms,
  type ScratchAdministrator,
  type ScratchPlace,
} from '../../pgtools/index.ts';
import { drillMark, isDeadDrill } from '../drill-mark.ts';
import { lastLine } from './call.ts';
import { readLog } from './containers.ts';
import { readDefinition } from './definition.ts';
import type { Engine } from './engine.ts';
import { findOwnEngine } from './engine.ts';
import { resolveImage } from './environment.ts';
import { openContainerPrograms } from './programs.ts';

/** Timeout in seconds for the start of the server. */
const START_SECONDS = 60;
const POLL_PAUSE = 200;
const LOG_LINES = 5;
/** The label that records which drill started a container. */
const LABEL = 'idkit.drill';

/** A Postgres server in a temporary container, with the client programs inside it. */
export interface ScratchContainer extends ScratchPlace {
  programs: PostgresPrograms;
}

/**
 * Starts a temporary container from the database's image, with its own volume and password. It is outside the compose
 * project, so no statement can reach the live database.
 *
 * @throws IDKIT_VERSION, IDKIT_UNREACHABLE without an engine, IDKIT_SETTING without a definition, IDKIT_FAILED if the
 *   container does not start (it is then removed)
 */
export async function openScratchContainer(settings: Settings, random: Random): Promise<ScratchContainer> {
  const engine = await findOwnEngine(settings);
  const image = findImage(settings);
  await reapDeadDrills(engine);
  const newPassword = () => new Secret(random.bytes(24).toString('base64url'));
  const password = newPassword();
  const administrator = { user: ADMINISTRATOR, password: newPassword() };
  const id = await runServer(engine, image, administrator);
  const close = async () => {
    await engine.call(['rm', '-f', '-v', id]);
  };
  try {
    const port = await waitForPort(engine, id);
    const programs = openContainerPrograms('the drill’s database', async () => ({ engine, id }));
    const url = `postgres://idkit@127.0.0.1:${port}/idkit`;
    await makeScratchRole({ url, password, administrator }, programs, random);
    return { url, password, administrator, programs, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Removes the containers that killed drills left behind. Each of them contains a whole database of the platform. */
export async function reapDeadDrills(engine: Engine): Promise<void> {
  const listed = await engine.call(['ps', '-aq', '--filter', `label=${LABEL}`]);
  for (const id of listed.stdout.split('\n').filter((line) => line !== '')) {
    const format = `{{index .Config.Labels "${LABEL}"}}`;
    const inspected = await engine.call(['container', 'inspect', '--format', format, id]);
    if (isDeadDrill(inspected.stdout.trim())) await engine.call(['rm', '-f', '-v', id]);
  }
}

function findImage(settings: Settings): string {
  const service = readDefinition(settings).services.find(({ role }) => role === 'database');
  return resolveImage(service?.image ?? '', settings);
}

async function runServer(
  engine: Engine,
  image: string,
  { user, password }: ScratchAdministrator,
): Promise<string> {
  const variables = { POSTGRES_USER: user, POSTGRES_DB: 'postgres', POSTGRES_PASSWORD: password.reveal() };
  const names = Object.keys(variables).flatMap((name) => ['-e', name]);
  const ran = await engine.call(
    ['run', '-d', '--label', `${LABEL}=${drillMark(process.pid)}`, ...names, '-p', '127.0.0.1::5432', image],
    { env: variables },
  );
  if (ran.code === 0) return ran.stdout.trim();
  throw new IdkitError(
    'IDKIT_FAILED',
    `the drill could not start a container from ${image}: ${lastLine(ran)}`,
  );
}

async function waitForPort(engine: Engine, id: string): Promise<string> {
  const until = performance.now() + START_SECONDS * 1000;
  for (;;) {
    const ready = await engine.call(['exec', id, 'pg_isready', '-q', '-h', '127.0.0.1']);
    const asked = ready.code === 0 ? await engine.call(['port', id, '5432/tcp']) : undefined;
    const port = /:(\d+)\s*$/m.exec(asked?.stdout ?? '')?.[1];
    if (port !== undefined) return port;
    if (performance.now() >= until) {
      const log = await readLog(engine, id, LOG_LINES);
      throw new IdkitError(
        'IDKIT_UNREACHABLE',
        `the drill's database was not ready within ${START_SECONDS} s`,
        {
          hints: log.map((line) => `log: ${line}`),
        },
      );
    }
    await wait(POLL_PAUSE);
  }
}
