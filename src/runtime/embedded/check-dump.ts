import type { DumpReport } from '../../backupset/index.ts';
import { checkMasterKey, type Settings } from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';
import { checkSqliteDump } from '../../store/open.ts';

/** See `Runtime.checkDump`. */
export function checkDumpFits(settings: Settings, dump: DumpReport): void {
  const { kind, schemaVersion = 0, meta = new Map<string, string>() } = dump;
  if (kind !== 'sqlite') {
    throw new IdkitError('IDKIT_VERSION', `the dump is one of ${kind}, and this platform runs on sqlite`, {
      hints: ['restore it into a platform whose idkit.yaml names such a database'],
    });
  }
  if (settings.service !== 'idkit') {
    throw new IdkitError(
      'IDKIT_VERSION',
      `the dump is one of idkit's own service, and this platform says service: ${settings.service}`,
      { hints: ['restore it into a platform whose idkit.yaml says service: idkit'] },
    );
  }
  checkSqliteDump({ schemaVersion, meta }, checkMasterKey(settings.masterKey), settings.masterKeyOld);
}
