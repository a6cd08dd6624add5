import type { Settings } from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';
import type { SmokeOptions, SmokeResult } from './contract.ts';

export async function smoke(_settings: Settings, _options: SmokeOptions): Promise<SmokeResult> {
  throw new IdkitError('IDKIT_NOT_YET', 'smoke');
}
