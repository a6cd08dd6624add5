import { execFile } from 'node:child_process';
import { chown, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { jsonFields, type Random, Secret } from '../core/index.ts';
import { listServers, openLocalPrograms } from './programs/local-programs.ts';
import { ADMINISTRATOR, makeScratchRole, type ScratchAdministrator } from './scratch-role.ts';
import {
  asOwner,
  findOwner,
  makeHome,
  noServer,
  runScratchServer,
  SERVER_ENVIRONMENT,
} from './scratch-server.ts';

/** Timeout in seconds for the start of the server. */
const START_SECONDS = 30;

/** The address of a temporary database, and how to remove it. */
export interface ScratchPlace {
  /** A `postgres://` address. The database that it names does not exist yet. */
  url: string;
  password: Secret | undefined;
  /** Set if the server is temporary too. */
  administrator?: ScratchAdministrator;
  /** Stops and removes the database, and the server if it is temporary. Idempotent. */
  close(): Promise<void>;
}

/**
 * Starts a Postgres server in `dir` on a socket that only this user can reach. The server is separate, so that the
 * statements of a dump cannot reach any other database. It ends with this process, even if the process is killed.
 *
 * @param major the oldest major version that is suitable
 * @returns undefined if this machine lacks the server's programs
 */
export async function openScratchCluster(
  dir: string,
  major: number,
  random: Random,
): Promise<ScratchPlace | undefined> {
  const programs = (await listServers()).filter((one) => Math.floor(one.version / 10_000) >= major);
  const [server] = programs.toSorted((one, other) => one.version - other.version);
  const owner = await findOwner();
  if (server === undefined || owner === 'no such user') return undefined;
  const place = await makeHome(dir, owner);
  const { home, apart } = place;
  const newPassword = () => new Secret(random.bytes(24).toString('base64url'));
  const password = newPassword();
  const administrator = { user: ADMINISTRATOR, password: newPassword() };
  const secret = join(home, 'password');
  await writeFile(secret, `${administrator.password.reveal()}\n`, { mode: 0o600 });
  if (owner !== 'this user') for (const path of [home, secret]) await chown(path, owner.uid, owner.gid);
  const cluster = join(home, 'cluster');
  const initdb = [
    '-D',
    cluster,
    '-U',
    ADMINISTRATOR,
    `--pwfile=${secret}`,
    '-A',
    'scram-sha-256',
    '-E',
    'UTF8',
    '-N',
  ];
  try {
    await promisify(execFile)(join(server.dir, 'initdb'), initdb, {
      ...asOwner(owner),
      cwd: home,
      env: SERVER_ENVIRONMENT,
    });
  } catch (error) {
    if (apart) await rm(home, { recursive: true, force: true });
    const { stderr } = jsonFields(error);
    throw noServer(typeof stderr === 'string' && stderr !== '' ? stderr : String(error), home);
  }
  const { close } = await runScratchServer(place, server.dir, { within: START_SECONDS });
  const url = `postgres://idkit@/idkit_drill?host=${encodeURIComponent(home)}`;
  try {
    await makeScratchRole({ url, password, administrator }, openLocalPrograms(), random);
  } catch (error) {
    await close();
    throw error;
  }
  return { url, password, administrator, close };
}
