import type { Settings } from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';
import type { PruneOptions, PruneResult } from './contract.ts';

export async function pruneBackups(_settings: Settings, _options: PruneOptions): Promise<PruneResult> {
  throw new IdkitError('IDKIT_NOT_YET', 'backups prune');
}
