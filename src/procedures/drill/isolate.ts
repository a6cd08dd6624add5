import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadSettings, type Settings } from '../../config/index.ts';
import { IdkitError, systemErrorCode } from '../../core/index.ts';
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
}

/** Makes the place, and removes those of drills whose process is gone; one that is to be kept stays for good. */
export async function isolate(
  environment: NodeJS.ProcessEnv,
  options: { keep: boolean },
): Promise<IsolatedPlace> {
  try {
    await reapDeadDrills();
    const dir = await mkdtemp(join(tmpdir(), options.keep ? KEPT_PREFIX : `${PREFIX}${process.pid}-`));
    const platform = join(dir, 'platform');
    await mkdir(platform, { mode: 0o700 });
    const env = Object.fromEntries(SECRETS.map((name) => [name, environment[name]]));
    const adjust = (settings: Settings) => confine(settings, platform);
    return { dir, settings: adjust(await loadSettings({ dir: platform, env })), env, adjust };
  } catch (error) {
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
function confine(settings: Settings, dir: string): Settings {
  return {
    ...settings,
    dir,
    runtime: 'embedded',
    listen: {
      host: '127.0.0.1',
      port: 0,
      managementPort: null,
      tlsCert: null,
      tlsKey: null,
      drainSeconds: 0,
    },
    database: { kind: 'sqlite', file: join(dir, 'data', 'idkit.db') },
    backup: { ...settings.backup, root: join(dir, 'backups'), mirror: null },
    applications: [],
    keycloak: { managementUrl: null, start: null, stop: null },
  };
}

/** A drill that was killed could not clean up, and what it left holds secrets. */
async function reapDeadDrills(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const pid = new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1];
    if (pid === undefined || lives(Number(pid))) continue;
    const path = join(tmpdir(), name);
    const entry = await findEntry(path);
    if (entry?.isDirectory() !== true || entry.uid !== process.getuid?.()) continue;
    await rm(path, { recursive: true, force: true });
  }
}

function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemErrorCode(error) !== 'ESRCH';
  }
}
