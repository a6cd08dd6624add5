import type { Settings } from '../../config/index.ts';
import { IdkitError, type Secret } from '../../core/index.ts';
import type { ProcedureOptions, ProcedureResult } from '../runbook.ts';

export interface RecoverAdminResult extends ProcedureResult {
  username: string;
  /** To be shown once. */
  password: Secret;
  /** True where the administrator is the machine's own, whose password `.env` holds. */
  envUpdated: boolean;
}

/** `username`: the administrator of `.env` unless told. @throws IDKIT_SERVICE_RUNNING */
export async function recoverAdmin(
  _settings: Settings,
  _options: ProcedureOptions & { username?: string },
): Promise<RecoverAdminResult> {
  throw new IdkitError('IDKIT_NOT_YET', 'recover-admin');
}
