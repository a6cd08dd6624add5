import type { RealmCount } from '../../platform/index.ts';
import type { ProcedureOptions, ProcedureResult, StepDescription } from '../run.ts';

/** One row of the smoke list or of the post-restore checklist. */
export interface SmokeCheck {
  /** Identifies the check, for example `discovery` or `token-signature`. Stable. */
  id: string;
  /** The rule that the check tests. */
  title: string;
  /** The realm or application that was checked. */
  subject?: string;
  outcome: 'passed' | 'failed' | 'not-applicable';
  /** The evidence, the fault, or the reason why the check does not apply. */
  detail: string;
  milliseconds: number;
}

export interface SmokeOptions extends ProcedureOptions {
  baseUrl?: string;
  /** Default: `settings.realms`, or every realm of the service. */
  realms?: readonly string[];
  /** Also presents a rotated refresh token, which the service must reject. */
  deep?: boolean;
  /** Expected user counts. Without them the counts are not checked. */
  expectation?: readonly RealmCount[];
  /** Timeout of one call in milliseconds. Default: 10,000. */
  timeoutMilliseconds?: number;
}

export interface SmokeResult extends ProcedureResult {
  baseUrl: string;
  checks: readonly SmokeCheck[];
  passed: number;
  failed: number;
  notApplicable: number;
}

/** The smoke tests, in order. */
export const SMOKE_STEPS = [
  {
    id: 'find',
    title: 'Find the service',
    why: 'a missing service is a different fault than a failing service',
  },
  {
    id: 'discovery',
    title: 'Read the discovery document of each realm',
    why: 'every client starts with it, and its issuer must match the tokens',
  },
  {
    id: 'token',
    title: 'Obtain a client credentials token and verify it',
    why: 'applications reject tokens that do not verify with the published keys',
  },
  {
    id: 'readiness',
    title: 'Check the readiness of the service',
    why: 'the proxy and the orchestrator only send traffic to a ready service',
  },
  {
    id: 'administrator',
    title: 'Log in as the administrator from .env, rotate the refresh token once, log out',
    why: 'backup and restore need that login, and every session depends on rotation',
  },
  {
    id: 'console',
    title: 'Log in to the admin console through its login form, and log out',
    why: 'administrators use it, and its page, form, code and PKCE can each fail',
  },
  {
    id: 'users',
    title: 'Compare the user count of each realm with the expectation',
    why: 'a realm without its users looks healthy from outside',
  },
  {
    id: 'applications',
    title: 'Check the health and a protected page of each application',
    why: 'applications verify tokens with the keys of this service',
  },
] as const satisfies readonly StepDescription[];
