import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadSettings, type Settings } from '../../config/index.ts';
import { IdkitError, systemErrorCode } from '../../core/index.ts';
import { hasEnded, type Scratch } from '../../platform/open.ts';
import { explainWriteFault, findEntry } from '../durable.ts';

const PREFIX = 'idkit-drill-';
/** What the operator keeps is no leftover of a dead drill. */
const KEPT_PREFIX = 'idkit-kept-drill-';

/** What of the process environment an isolated platform may see: secrets that a restore here would see too. */
const SECRETS = [
  'IDKIT_MASTER_KEY',
  'IDKIT_MASTER_KEY_OLD',
  'IDKIT_ADMIN_USERNAME',
  'IDKIT_ADMIN_PASSWORD',
  'IDKIT_SMOKE_CLIENT_ID',
  'IDKIT_SMOKE_CLIENT_SECRET',
  'IDKIT_SMOKE_REALM',
] as const;

/** A platform directory that nothing else knows. */
export interface IsolatedPlace {
  /** To be removed at the end. Mode 0700. */
  dir: string;
  /** The settings of the empty platform in it. */
  settings: Settings;
  env: NodeJS.ProcessEnv;
  /** Turns what the set says of itself into settings that reach nothing outside. */
  adjust(settings: Settings): Settings;
  /** To be closed before `dir` is removed. */
  scratch: Scratch;
}

/** Makes the place, and removes those of drills whose process is gone; one that is to be kept stays for good. */
export async function isolate(
  environment: NodeJS.ProcessEnv,
  options: {
    keep: boolean;
    service: Settings['service'];
    openScratch(dir: string): Promise<Scratch>;
  },
): Promise<IsolatedPlace> {
  let made: string | undefined;
  try {
    await reapDeadDrills();
    const dir = await mkdtemp(join(tmpdir(), options.keep ? KEPT_PREFIX : `${PREFIX}${process.pid}-`));
    made = dir;
    const platform = join(dir, 'platform');
    await mkdir(platform, { mode: 0o700 });
    const env: NodeJS.ProcessEnv = Object.fromEntries(SECRETS.map((name) => [name, environment[name]]));
    // The scratch needs no password of the set's: a file that its .env names need not be on this machine.
    env['IDKIT_DATABASE_PASSWORD_FILE'] = '/dev/null';
    const empty = { ...(await loadSettings({ dir: platform, env })), service: options.service };
    const scratch = await options.openScratch(dir);
    const adjust = (settings: Settings) => ({
      ...confine(settings, platform, scratch),
      service: options.service,
    });
    return { dir, settings: adjust(empty), env, adjust, scratch };
  } catch (error) {
    if (made !== undefined) await rm(made, { recursive: true, force: true });
    if (systemErrorCode(error) === 'ENOENT' || systemErrorCode(error) === 'ENOTDIR') {
      throw new IdkitError('IDKIT_DIRECTORY_NOT_WRITABLE', `there is no directory ${tmpdir()} to drill in`, {
        cause: error,
        hints: ['set TMPDIR to a directory for temporary files'],
      });
    }
    throw explainWriteFault(error, tmpdir());
  }
}

/** Everything that could reach out of the drill's directory is turned inwards. */
function confine(settings: Settings, dir: string, scratch: Scratch): Settings {
  return {
    ...settings,
    dir,
    runtime: 'embedded',
    listen: {
      host: '127.0.0.1',
      port: 0,
      managementPort: 'off' as const,
      managementHost: '127.0.0.1',
      tlsCert: null,
      tlsKey: null,
      drainSeconds: 0,
    },
    database: scratch.database,
    databasePassword: scratch.databasePassword,
    backup: { ...settings.backup, root: join(dir, 'backups'), mirror: null },
    applications: [],
    // Its logout tokens are signed with the real keys, and an application that hears of them ends real sessions.
    outbound: { privateAddresses: [], off: true },
    keycloak: { managementUrl: null, start: null, stop: null },
  };
}

/** A drill that was killed could not clean up, and what it left holds secrets. */
async function reapDeadDrills(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const pid = new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1];
    if (pid === undefined || !hasEnded(Number(pid))) continue;
    const path = join(tmpdir(), name);
    const entry = await findEntry(path);
    if (entry?.isDirectory() !== true || entry.uid !== process.getuid?.()) continue;
    await rm(path, { recursive: true, force: true });
  }
}
