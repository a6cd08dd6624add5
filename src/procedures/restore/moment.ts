import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createGzipWriter, SET_FILES } from '../../backupset/index.ts';
import { platformPaths, type Settings } from '../../config/index.ts';
import { IdkitError, renderCount } from '../../core/index.ts';
import { type Moment, openPlatform, recoverMoment } from '../../platform/open.ts';
import { readBack, writeManifest } from '../backup/manifest.ts';
import { openSetInRoot } from '../backup/open-set.ts';
import { BACKUP_STEPS } from '../backup/options.ts';
import type { BackupWork } from '../backup/work.ts';
import { beginRun, type ProcedureOptions } from '../run.ts';

/** A set that was made from the archive. */
export interface MomentSet {
  /** The directory of the set. */
  dir: string;
  /** Removes the set. */
  remove(): Promise<void>;
}

const STEPS = [
  {
    id: 'recover',
    title: 'Recover the database at the moment in a private copy',
    why: 'the live database does not change until the copy has passed its checks',
  },
] as const;

/**
 * Parses a moment: a time in UTC such as `2026-11-22T10:15:03.25Z`, or `before:EVENT-ID`.
 *
 * @throws IDKIT_USAGE
 */
export function parseMoment(text: string): Moment {
  const [, event] = /^before:(.+)$/.exec(text) ?? [];
  if (event !== undefined) return { beforeEvent: event };
  const [, whole, fraction = ''] = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?Z$/.exec(text) ?? [];
  const milliseconds = whole === undefined ? Number.NaN : Date.parse(`${whole}Z`);
  if (Number.isNaN(milliseconds))
    throw new IdkitError('IDKIT_USAGE', `--at is ${JSON.stringify(text)}, which is not a moment`, {
      hints: ['write a time in UTC: 2026-11-22T10:15:03Z', 'or the id of an event: before:EVENT-ID'],
    });
  return { time: milliseconds * 1000 + Number(fraction.padEnd(6, '0')) };
}

/**
 * Makes a set of the database at a moment, from the archive. The set has no environment and no configuration: a restore
 * of it keeps those of the platform.
 *
 * @throws the errors of `recoverMoment`; IDKIT_NO_SPACE
 */
export async function makeMomentSet(
  settings: Settings,
  moment: Moment,
  options: ProcedureOptions,
): Promise<MomentSet> {
  const root = join(platformPaths(settings.dir).data, 'restore-at');
  const remove = () => rm(root, { recursive: true, force: true, maxRetries: 3 });
  await remove();
  await mkdir(root, { recursive: true, mode: 0o700 });
  let made = 0;
  const makeDirectory = async () => {
    const dir = join(root, `.server-${++made}`);
    await mkdir(dir, { mode: 0o700 });
    return dir;
  };
  try {
    const run = beginRun(STEPS, options);
    let files = 0;
    const report = run.progress('recover', 'items');
    const recovered = await run.step(
      'recover',
      () =>
        recoverMoment(settings, moment, {
          makeDirectory,
          signal: options.signal,
          onFile: () => report(++files),
        }),
      ({ lastCommit }) =>
        lastCommit === undefined ? undefined : `last change ${new Date(lastCommit).toISOString()}`,
    );
    try {
      const dir = await dumpInto(root, recovered.settings, options);
      return { dir, remove };
    } finally {
      await recovered.close();
    }
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Dumps the database of the settings into a new set in `root`. */
async function dumpInto(root: string, settings: Settings, options: ProcedureOptions): Promise<string> {
  const parts = ['database'] as const;
  const run = beginRun(BACKUP_STEPS, options, (id) =>
    ['database', 'checksums', 'read-back', 'publish'].includes(id),
  );
  const { writer, lock, startedAt } = await openSetInRoot(root, options);
  const platform = await openPlatform(settings);
  const work: BackupWork = { settings, options, run, platform, root, parts, writer, startedAt };
  try {
    const dump = await run.step(
      'database',
      async () => {
        const file = await writer.createFile(SET_FILES.dump);
        const gzip = createGzipWriter((chunk) => file.write(chunk), { signal: options.signal });
        const report = run.progress('database', 'bytes');
        try {
          const summary = await platform.database.dump((chunk) => gzip.write(chunk), {
            signal: options.signal,
            onProgress: (done, total) => report(done, total, { isEstimate: true }),
          });
          await gzip.end();
          return summary;
        } catch (error) {
          await gzip.abort();
          throw error;
        } finally {
          await file.close();
        }
      },
      ({ realms }) => renderCount(realms.length, 'realm'),
    );
    await run.step('checksums', () => writeManifest(work, { dump, config: false, env: false }));
    await run.step('read-back', () => readBack(work));
    return await run.step('publish', () => writer.publish());
  } finally {
    await writer.abandon();
    await lock.release();
  }
}
