import { createGzipWriter, type LeftOut, SET_FILES, writeConfigArchive } from '../../backupset/index.ts';
import { platformPaths } from '../../config/index.ts';
import { IdkitError, renderCount } from '../../core/index.ts';
import type { DumpSummary } from '../../platform/index.ts';
import { encryptEnv, findMasterKeyFault, listSettingsFromElsewhere } from './environment.ts';
import { fetchRealms } from './fetch-realms.ts';
import { readsDatabase } from './options.ts';
import type { BackupContents, BackupWork, RealmFiles } from './work.ts';

/** Runs the steps that write the chosen parts into the set, in order. */
export async function writeContents(work: BackupWork): Promise<BackupContents> {
  const { run, parts, options } = work;
  const contents: BackupContents = { config: false, env: false };
  if (parts.includes('database')) {
    contents.dump = await run.step(
      'database',
      () => dumpDatabase(work),
      ({ realms }) => renderCount(realms.length, 'realm'),
    );
  }
  const keyFault = await findKeyFault(work);
  if (keyFault !== undefined) {
    run.finding(
      'MASTER_KEY_UNFIT',
      `the master key does not decrypt the database, so this set can only be restored with the right key: ${keyFault}`,
    );
  }
  if (
    parts.includes('realms') &&
    (keyFault === undefined || (await work.platform.service.baseUrl()) !== undefined)
  ) {
    const realms = await run.step('realms', () => fetchRealms(work, contents.dump), renderRealms);
    if (realms !== undefined) contents.realms = realms;
  }
  if (parts.includes('config')) {
    await run.step(
      'config',
      () => archiveConfig(work),
      ({ entries }) => renderCount(entries, 'entry', 'entries'),
    );
    contents.config = true;
  }
  const { passphrase } = options;
  if (parts.includes('env') && passphrase !== undefined) {
    contents.env = (await run.step('env', () => encryptEnv(work, passphrase))) === 'encrypted';
    for (const setting of listSettingsFromElsewhere(work.settings)) {
      run.finding(
        'SETTING_ELSEWHERE',
        `${setting}, so the set does not contain it; keep the value together with the passphrase`,
      );
    }
  }
  return contents;
}

/** Dumps one consistent snapshot. The SQL is compressed and hashed while it is being written. */
async function dumpDatabase({ platform, writer, options, run }: BackupWork): Promise<DumpSummary> {
  const file = await writer.createFile(SET_FILES.dump);
  const report = run.progress('database', 'bytes');
  const gzip = createGzipWriter((chunk) => file.write(chunk), { signal: options.signal });
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
}

/**
 * Returns the fault if the master key does not decrypt the database. A set without data from the database needs no key.
 * For such a set, an unreachable database is only a note, and a rejected password a finding.
 */
async function findKeyFault({ parts, platform, run, options }: BackupWork): Promise<string | undefined> {
  if (!parts.includes('env') && !parts.includes('realms')) return undefined;
  try {
    return await findMasterKeyFault(platform);
  } catch (error) {
    if (readsDatabase(parts) || !(error instanceof IdkitError)) throw error;
    if (error.code === 'IDKIT_CREDENTIALS') {
      run.finding(
        'DATABASE_REFUSED',
        `the database rejects the current credentials, so this set can only be restored with the correct credentials: ${error.message}`,
      );
    } else if (error.code === 'IDKIT_UNREACHABLE' || error.code === 'IDKIT_NOT_FOUND') {
      options.reporter.note(
        `idkit could not check whether the master key decrypts the database: ${error.message}`,
      );
    } else throw error;
    return undefined;
  }
}

function renderRealms(files: RealmFiles | undefined): string {
  if (files === undefined) return 'none';
  return `${renderCount(files.realms.length, 'realm')} from the ${files.source === 'api' ? 'service' : 'snapshot'}`;
}

/** Archives `config/`, `idkit.yaml` and `compose.yaml`. Each entry that must be left out is a finding. */
async function archiveConfig(work: BackupWork): Promise<{ entries: number }> {
  const { settings, writer, options, run } = work;
  const paths = platformPaths(settings.dir);
  const file = await writer.createFile(SET_FILES.config);
  try {
    const report = await writeConfigArchive(
      {
        configDir: paths.config,
        idkitYaml: paths.yaml,
        composeYaml: paths.compose,
        environmentFile: paths.env,
      },
      (chunk) => file.write(chunk),
      { signal: options.signal, onProgress: run.progress('config', 'bytes') },
    );
    for (const { path, why } of report.leftOut)
      run.finding('CONFIG_LEFT_OUT', `config/${path} is left out: ${REASONS[why]}`);
    return { entries: report.entries };
  } finally {
    await file.close();
  }
}

const REASONS: Readonly<Record<LeftOut['why'], string>> = {
  'link leaves': 'it is a symbolic link that points outside config/',
  socket: 'it is a socket',
  fifo: 'it is a FIFO',
  device: 'it is a device',
  'environment name': 'files named .env* contain secrets',
  'name is not UTF-8': 'its name is not UTF-8',
  'vanished while read': 'it vanished while it was being read',
  'changed while read': 'it changed while it was being read',
  unreadable: 'it is unreadable',
};
