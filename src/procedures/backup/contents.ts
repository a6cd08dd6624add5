import { createGzipWriter, type LeftOut, SET_FILES, writeConfigArchive } from '../../backupset/index.ts';
import { platformPaths } from '../../config/index.ts';
import type { DumpSummary } from '../../platform/index.ts';
import type { BackupWork } from './work.ts';

/** Archives `config/`, `idkit.yaml` and `compose.yaml`; what must stay out is named as a finding. */
export async function archiveConfig(work: BackupWork): Promise<{ entries: number }> {
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
    for (const left of report.leftOut) run.finding('CONFIG_LEFT_OUT', describeLeftOut(left));
    return { entries: report.entries };
  } finally {
    await file.close();
  }
}

const REASONS: Readonly<Record<LeftOut['why'], string>> = {
  'link leaves': 'it is a symbolic link that leaves config/',
  socket: 'it is a socket',
  fifo: 'it is a FIFO',
  device: 'it is a device',
  'environment name': 'files named .env* hold secrets',
  'name is not UTF-8': 'its name is not UTF-8',
  'vanished while read': 'it vanished while it was read',
  'changed while read': 'it changed while it was read',
  unreadable: 'it cannot be read',
};

function describeLeftOut({ path, why }: LeftOut): string {
  return `config/${path} is left out: ${REASONS[why]}`;
}

/** Dumps one consistent snapshot; the SQL is compressed and hashed on its way to the disk. */
export async function dumpDatabase(work: BackupWork): Promise<DumpSummary> {
  const { runtime, writer, options, run } = work;
  const file = await writer.createFile(SET_FILES.dump);
  const gzip = createGzipWriter((chunk) => file.write(chunk), { signal: options.signal });
  try {
    const summary = await runtime.dumpDatabase((chunk) => gzip.write(chunk), {
      signal: options.signal,
      onProgress: run.progress('database', 'bytes'),
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
