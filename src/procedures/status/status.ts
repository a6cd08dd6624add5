import type { Settings } from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';
import type { ProcedureOptions } from '../runbook.ts';
import type { StatusReport } from './contract.ts';

export async function status(_settings: Settings, _options: ProcedureOptions): Promise<StatusReport> {
  throw new IdkitError('IDKIT_NOT_YET', 'status');
}
