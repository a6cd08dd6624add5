import type { Settings } from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';
import type { DrillOptions, DrillResult } from './contract.ts';

export async function drill(_settings: Settings, _options: DrillOptions): Promise<DrillResult> {
  throw new IdkitError('IDKIT_NOT_YET', 'drill');
}
