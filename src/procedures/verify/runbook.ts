import type { Settings } from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';
import type { VerifyOptions, VerifyResult } from './contract.ts';

export async function verify(_settings: Settings, _options: VerifyOptions): Promise<VerifyResult> {
  throw new IdkitError('IDKIT_NOT_YET', 'verify');
}
