import type { RealmCount } from '../../platform/index.ts';
import type { ProcedureOptions, ProcedureResult, StepDescription } from '../run.ts';

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

/** The smoke tests in order: the specification's three, then what its post-restore checklist adds. */
export const SMOKE_STEPS = [
  {
    id: 'find',
    title: 'Find the service',
    why: 'no service at all is another fault than a service that fails',
  },
  {
    id: 'discovery',
    title: 'Read the discovery document of each realm',
    why: 'every client begins there, and its issuer must be the one in the tokens',
  },
  {
    id: 'token',
    title: 'Obtain a client credentials token and verify it',
    why: 'a token that does not verify against the published keys is refused everywhere',
  },
  {
    id: 'readiness',
    title: 'Ask the service whether it is ready',
    why: 'the proxy and the orchestrator send traffic by this answer',
  },
  {
    id: 'administrator',
    title: 'Log in as the machine’s administrator, rotate once, end the login',
    why: 'backup and restore need that login, and rotation is what holds every session together',
  },
  {
    id: 'console',
    title: 'Log in to the admin console by its login form, and out again',
    why: 'people administer there, and page, form, code and PKCE fail in other ways than a token does',
  },
  {
    id: 'users',
    title: 'Compare the user count of each realm with what is expected',
    why: 'a realm without its users looks healthy from outside',
  },
  {
    id: 'applications',
    title: 'Ask the applications for their health and a protected page',
    why: 'they verify tokens with keys that they fetched from here',
  },
] as const satisfies readonly StepDescription[];
