import { createGzipWriter, SET_FILES } from '../../backupset/index.ts';
import type { DumpSummary } from '../../runtime/index.ts';
import type { BackupWork } from './work.ts';

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
