import type { PlatformPart } from '../../runtime/index.ts';
import type { ProcedureResult } from '../runbook.ts';

/** What `up` or `down` found at its end. */
export interface PartsResult extends ProcedureResult {
  /** Up: every part as it is now. Down: those that ran. */
  parts: readonly PlatformPart[];
  /** Where the service answers now; absent after `down`. */
  baseUrl?: string;
  milliseconds: number;
}
