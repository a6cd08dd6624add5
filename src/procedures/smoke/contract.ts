import type { RealmCount } from '../../runtime/index.ts';
import type { ProcedureOptions, ProcedureResult } from '../runbook.ts';

/** One row of the smoke list or of the post-restore checklist. */
export interface SmokeCheck {
  /** Stable, for example `discovery` or `token-signature`. */
  id: string;
  /** What is true when it passes. */
  title: string;
  /** The realm or application that it was about. */
  subject?: string;
  outcome: 'passed' | 'failed' | 'not-applicable';
  /** Evidence, the fault, or why it does not apply. */
  detail: string;
  milliseconds: number;
}

export interface SmokeOptions extends ProcedureOptions {
  baseUrl?: string;
  /** `settings.realms`, or every realm of the service, unless told. */
  realms?: readonly string[];
  /** Also present a used refresh token once and see it refused. */
  deep?: boolean;
  /** User counts that must hold; absent: the counts do not apply. */
  expectation?: readonly RealmCount[];
  /** Milliseconds for one call; 10,000 unless told. */
  timeoutMilliseconds?: number;
}

export interface SmokeResult extends ProcedureResult {
  baseUrl: string;
  checks: readonly SmokeCheck[];
  passed: number;
  failed: number;
  notApplicable: number;
}
