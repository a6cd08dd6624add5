import type { Settings } from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';
import type { ListBackupsOptions, ListBackupsResult } from './contract.ts';

export async function listBackups(
  _settings: Settings,
  _options: ListBackupsOptions,
): Promise<ListBackupsResult> {
  throw new IdkitError('IDKIT_NOT_YET', 'backups list');
}
