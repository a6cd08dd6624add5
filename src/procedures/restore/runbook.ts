import type { Settings } from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';
import type { RestoreOptions, RestoreResult } from './contract.ts';

export async function restore(_settings: Settings, _options: RestoreOptions): Promise<RestoreResult> {
  throw new IdkitError('IDKIT_NOT_YET', 'restore');
}
