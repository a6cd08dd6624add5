import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { IdkitError, jsonFields, systemErrorCode } from '../../../core/index.ts';
import {
  type FilledSource,
  findSystemUser,
  type Owner,
  type RecoveryTarget,
  showTime,
} from '../../../pgtools/index.ts';

/** An archive that another program keeps: pgBackRest with the name of a stanza, or Barman with that of a server. */
export interface ForeignArchive {
  program: 'pgbackrest' | 'barman';
  name: string;
}

/** The variables with which an operator configures pgBackRest. */
const OWN_SETTINGS = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => /^PGBACKREST_CONFIG$/.test(name)),
);
/** The server's environment lacks them, so its command sets them. */
const CONFIG = Object.entries(OWN_SETTINGS)
  .map(([name, value]) => `${name}='${String(value).replaceAll("'", "'\\''").replaceAll('%', '%%')}' `)
  .join('');

/** A complete backup of another program. Times are Unix times in milliseconds. */
export interface ForeignBackup {
  id: string;
  endedAt: number;
}

/** Reads `pgbackrest:STANZA` or `barman:SERVER`. Returns undefined for every other location. */
export function parseForeign(location: string): ForeignArchive | undefined {
  const [, program, name] = /^(pgbackrest|barman):([A-Za-z0-9_][A-Za-z0-9_.-]*)$/.exec(location) ?? [];
  if (name === undefined) return undefined;
  return { program: program === 'barman' ? 'barman' : 'pgbackrest', name };
}

/** Returns the location as the settings contain it. */
export function labelOf({ program, name }: ForeignArchive): string {
  return `${program}:${name}`;
}

/** Lists the complete backups, the oldest first. @throws IDKIT_VERSION without the program, IDKIT_FAILED */
export async function listForeign(archive: ForeignArchive): Promise<readonly ForeignBackup[]> {
  const { program, name } = archive;
  const text =
    program === 'pgbackrest'
      ? await run(archive, [`--stanza=${name}`, '--output=json', 'info'])
      : await run(archive, ['-f', 'json', 'list-backups', name]);
  const found = program === 'pgbackrest' ? readInfo(JSON.parse(text)) : readList(JSON.parse(text), name);
  return found.toSorted((one, other) => one.endedAt - other.endedAt);
}

/**
 * Returns the source of a recovery through another program. It restores the newest backup before `time` and fetches the
 * WAL from its own archive.
 *
 * @param time Unix time in milliseconds, after the end of the backup to use
 * @param to the point to recover. Default: `time`
 * @throws IDKIT_NOT_FOUND before the first backup
 */
export async function openForeign(
  archive: ForeignArchive,
  time: number,
  to: RecoveryTarget = { kind: 'time', time: time * 1000 },
): Promise<FilledSource> {
  const backups = await listForeign(archive);
  const backup = backups.findLast(({ endedAt }) => endedAt <= time);
  const label = labelOf(archive);
  if (backup === undefined)
    throw new IdkitError(
      'IDKIT_NOT_FOUND',
      `${label} has no backup from before ${new Date(time).toISOString()}`,
      {
        hints: backups
          .slice(0, 1)
          .map(({ endedAt }) => `its first backup ended at ${new Date(endedAt).toISOString()}`),
      },
    );
  const { program, name } = archive;
  if (program === 'pgbackrest')
    return {
      async fill(cluster, owner) {
        const options = [`--stanza=${name}`, `--pg1-path=${cluster}`, `--set=${backup.id}`];
        const tablespaces = `--tablespace-map-all=${cluster}-tablespaces`;
        await run(
          archive,
          [...options, tablespaces, '--archive-mode=off', '--type=default', 'restore'],
          owner,
        );
      },
      command: (cluster) => `${CONFIG}pgbackrest --stanza=${name} --pg1-path=${cluster} archive-get %f "%p"`,
    };
  return {
    async fill(cluster) {
      // Barman runs as its own user, who cannot enter the directory of the server.
      const user = await findSystemUser('barman');
      const place = await mkdtemp(join(tmpdir(), 'idkit-barman-'));
      try {
        if (user !== 'this user') await promisify(execFile)('chown', [`${user.uid}:${user.gid}`, place]);
        const own = join(place, 'cluster');
        // Barman copies the WAL up to the target. Without a time, it copies all of it.
        const target = to.kind === 'time' ? ['--target-time', showTime(to.time)] : [];
        await run(archive, ['recover', ...target, name, backup.id, own]);
        await rm(cluster, { recursive: true, force: true });
        await promisify(execFile)('mv', [own, cluster]);
      } finally {
        await rm(place, { recursive: true, force: true });
      }
    },
    command: () => 'cp "barman_wal/%f" "%p"',
  };
}

function readInfo(info: unknown): readonly ForeignBackup[] {
  const [stanza] = Array.isArray(info) ? info : [];
  const { backup } = jsonFields(stanza);
  return (Array.isArray(backup) ? backup : []).flatMap((one: unknown) => {
    const { label, timestamp, error } = jsonFields(one);
    const { stop } = jsonFields(timestamp);
    if (typeof label !== 'string' || typeof stop !== 'number' || error === true) return [];
    // Its times are whole seconds.
    return [{ id: label, endedAt: (stop + 1) * 1000 }];
  });
}

function readList(list: unknown, server: string): readonly ForeignBackup[] {
  const backups = jsonFields(list)[server];
  return (Array.isArray(backups) ? backups : []).flatMap((one: unknown) => {
    const { backup_id: id, end_time_timestamp: end, status } = jsonFields(one);
    if (typeof id !== 'string' || (status !== 'DONE' && status !== undefined)) return [];
    const seconds = Number(end);
    return Number.isFinite(seconds) ? [{ id, endedAt: (seconds + 1) * 1000 }] : [];
  });
}

/** Runs the program as the user to whom its archive belongs. */
async function run({ program, name }: ForeignArchive, args: readonly string[], as?: Owner): Promise<string> {
  const user = as ?? (await findSystemUser(program === 'barman' ? 'barman' : 'postgres'));
  try {
    const config = process.env['BARMAN_CONFIG'];
    const first = program === 'barman' && config !== undefined ? ['-c', config] : [];
    const { stdout } = await promisify(execFile)(program, [...first, ...args], {
      ...(user === 'this user' ? {} : user),
      cwd: '/',
      env: { ...OWN_SETTINGS, PATH: process.env['PATH'] ?? '', LC_ALL: 'C.UTF-8', TZ: 'UTC' },
      maxBuffer: 64 * 1024 * 1024,
    });
    return stdout;
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT')
      throw new IdkitError('IDKIT_VERSION', `the program ${program} is missing`, {
        cause: error,
        hints: [`install it: apt-get install ${program}`],
      });
    const { stderr, stdout } = jsonFields(error);
    const said = [stderr, stdout].filter((text) => typeof text === 'string' && text !== '').join('\n');
    throw new IdkitError(
      'IDKIT_FAILED',
      `${program} failed for ${name}: ${(said || String(error)).trim().slice(-1500)}`,
      {
        cause: error,
      },
    );
  }
}
