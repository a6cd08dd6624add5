import type { Settings } from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';
import type { ProcedureOptions, ProcedureResult } from '../runbook.ts';

export interface RotateMasterKeyResult extends ProcedureResult {
  /** Secrets sealed anew. */
  records: number;
  /** True where this run finished what an earlier one had begun. */
  resumed: boolean;
}

/** @throws IDKIT_SERVICE_RUNNING, IDKIT_MASTER_KEY_WRONG, IDKIT_SETTING where the key does not come from `.env` */
export async function rotateMasterKey(
  _settings: Settings,
  _options: ProcedureOptions,
): Promise<RotateMasterKeyResult> {
  throw new IdkitError('IDKIT_NOT_YET', 'master-key rotate');
}
