import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadSettings, type Settings } from '../../config/index.ts';
import { IdkitError, systemErrorCode } from '../../core/index.ts';
import { findEntry, hasEnded, writeFault } from '../../files/index.ts';
import type { Scratch } from '../../platform/open.ts';

const PREFIX = 'idkit-drill-';
/** Prefix of the directories that `--keep` keeps. It does not begin with `PREFIX`, so later drills keep them too. */
const KEPT_PREFIX = 'idkit-kept-drill-';

/** Environment variables that an isolated platform may read, because a real restore reads them too. */
const SECRETS = [
  'IDKIT_MASTER_KEY',
  'IDKIT_MASTER_KEY_OLD',
  'IDKIT_ADMIN_USERNAME',
  'IDKIT_ADMIN_PASSWORD',
  'IDKIT_SMOKE_CLIENT_ID',
  'IDKIT_SMOKE_CLIENT_SECRET',
  'IDKIT_SMOKE_REALM',
  'IDKIT_CANARY_PASSWORD',
] as const;

/** A temporary platform directory that no other program uses. */
export interface IsolatedPlace {
  /** The platform directory, with mode 0700. The caller removes it at the end. */
  dir: string;
  /** The settings of the empty platform in `dir`. */
  settings: Settings;
  env: NodeJS.ProcessEnv;
  /** Returns the settings of the set, changed so that the platform reaches nothing outside `dir`. */
  adjust(settings: Settings): Settings;
  /** The temporary database. The caller closes it before removing `dir`. */
  scratch: Scratch;
}

/**
 * Creates an isolated platform directory. Also removes the directories of drills whose process has ended, except those
 * that `--keep` kept.
 */
export async function isolate(
  environment: NodeJS.ProcessEnv,
  options: {
    keep: boolean;
    service: Settings['service'];
    openScratch(dir: string): Promise<Scratch>;
  },
): Promise<IsolatedPlace> {
  let created: string | undefined;
  try {
    await reapDeadDrills();
    const dir = await mkdtemp(join(tmpdir(), options.keep ? KEPT_PREFIX : `${PREFIX}${process.pid}-`));
    created = dir;
    const platform = join(dir, 'platform');
    await mkdir(platform, { mode: 0o700 });
    const env: NodeJS.ProcessEnv = Object.fromEntries(SECRETS.map((name) => [name, environment[name]]));
    // The .env of the set may name a password file that this machine does not have. The scratch server does not need one.
    env['IDKIT_DATABASE_PASSWORD_FILE'] = '/dev/null';
    const empty = { ...(await loadSettings({ dir: platform, env })), service: options.service };
    const scratch = await options.openScratch(dir);
    const adjust = (settings: Settings) => ({
      ...confine(settings, platform, scratch),
      service: options.service,
    });
    return { dir, settings: adjust(empty), env, adjust, scratch };
  } catch (error) {
    if (created !== undefined) await rm(created, { recursive: true, force: true });
    if (systemErrorCode(error) === 'ENOENT' || systemErrorCode(error) === 'ENOTDIR') {
      throw new IdkitError(
        'IDKIT_DIRECTORY_NOT_WRITABLE',
        `the directory for temporary files, ${tmpdir()}, does not exist`,
        {
          cause: error,
          hints: ['set TMPDIR to an existing directory'],
        },
      );
    }
    throw writeFault(tmpdir(), error);
  }
}

/**
 * Places that receive data of the platform. The service of a drill must not ship its writes to the archive of the live
 * one: that would begin a new chain there.
 */
const DETACHED = { mirror: null, archive: null };

/** Replaces every setting that could reach outside the drill's directory. */
function confine(settings: Settings, dir: string, scratch: Scratch): Settings {
  return {
    ...settings,
    dir,
    runtime: 'embedded',
    listen: {
      host: '127.0.0.1',
      port: 0,
      managementPort: 'off',
      managementHost: '127.0.0.1',
      tlsCert: null,
      tlsKey: null,
      drainSeconds: 0,
    },
    database: scratch.database,
    databasePassword: scratch.databasePassword,
    backup: { ...settings.backup, ...DETACHED, root: join(dir, 'backups') },
    applications: [],
    // Logout tokens are signed with the real keys, so an application that received one would end real sessions.
    outbound: { privateAddresses: [], off: true },
    keycloak: { managementUrl: null, start: null, stop: null },
  };
}

/** Removes the directories of killed drills, because they contain secrets. */
async function reapDeadDrills(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const pid = new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1];
    if (pid === undefined || !hasEnded(Number(pid))) continue;
    const path = join(tmpdir(), name);
    const entry = findEntry(path);
    if (entry?.isDirectory() !== true || entry.uid !== process.getuid?.()) continue;
    await rm(path, { recursive: true, force: true });
  }
}
