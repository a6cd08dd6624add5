import type { Settings } from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';
import type { BackupOptions, BackupResult } from './contract.ts';

export async function backup(_settings: Settings, _options: BackupOptions): Promise<BackupResult> {
  throw new IdkitError('IDKIT_NOT_YET', 'backup');
}
