import type { Settings } from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';
import { beginRun } from '../run.ts';
import { checkAdministrator } from './check-administrator.ts';
import { checkApplications } from './check-applications.ts';
import { checkConsole } from './check-console.ts';
import { checkReadiness } from './check-readiness.ts';
import { checkDiscovery, checkUsers } from './check-realms.ts';
import { checkToken } from './check-token.ts';
import type { SmokeCheck, SmokeOptions, SmokeResult } from './options.ts';
import { SMOKE_STEPS } from './options.ts';
import { findService } from './service.ts';

/**
 * Runs the smoke tests against a running service. A failed check is a finding and never an exception.
 *
 * @throws IDKIT_UNREACHABLE if no service responds. If every check was skipped, the failure of the result is IDKIT_FAILED.
 */
export async function smoke(settings: Settings, options: SmokeOptions): Promise<SmokeResult> {
  const run = beginRun(SMOKE_STEPS, options);
  const service = await run.step(
    'find',
    () => findService(settings, options),
    ({ baseUrl }) => baseUrl,
  );
  try {
    const discovery = await run.step('discovery', () => checkDiscovery(service), summarize);
    const token = await run.step(
      'token',
      () => checkToken(service),
      ({ checks }) => summarize(checks),
    );
    const readiness = await run.step('readiness', () => checkReadiness(service), summarize);
    const administrator = await run.step('administrator', () => checkAdministrator(service), summarize);
    const console = await run.step('console', () => checkConsole(service), summarize);
    const users = await run.step('users', () => checkUsers(service), summarize);
    const applications = await run.step(
      'applications',
      () => checkApplications(service, token.accessToken),
      summarize,
    );
    const checks = [
      ...discovery,
      ...token.checks,
      ...readiness,
      ...administrator,
      ...console,
      ...users,
      ...applications,
    ];
    for (const check of checks)
      if (check.outcome === 'failed') run.finding('SMOKE_FAILED', renderCheck(check));
    return conclude(service.baseUrl, checks, run.findings);
  } finally {
    await service.admin?.logout().catch(() => undefined);
  }
}

function conclude(
  baseUrl: string,
  checks: readonly SmokeCheck[],
  findings: SmokeResult['findings'],
): SmokeResult {
  const count = (outcome: SmokeCheck['outcome']) =>
    checks.filter((check) => check.outcome === outcome).length;
  const result = {
    baseUrl,
    checks,
    findings,
    passed: count('passed'),
    failed: count('failed'),
    notApplicable: count('not-applicable'),
  };
  if (result.passed + result.failed > 0) return result;
  const failure = new IdkitError('IDKIT_FAILED', 'every smoke check was skipped', {
    hints: ['set the credentials of the administrator and of the smoke client in .env or the environment'],
  });
  return { ...result, failure };
}

function summarize(checks: readonly SmokeCheck[]): string {
  const failed = checks.filter((check) => check.outcome === 'failed').length;
  const passed = checks.filter((check) => check.outcome === 'passed').length;
  if (failed > 0) return `${failed} failed, ${passed} passed`;
  return passed > 0 ? `${passed} passed` : 'nothing applies';
}

function renderCheck(check: SmokeCheck): string {
  const subject = check.subject === undefined ? '' : ` (${check.subject})`;
  return `${check.title}${subject}: ${check.detail}`;
}
