import { IdkitError, renderCount } from '../../core/index.ts';
import type { SmokeCheck } from '../../procedures/index.ts';
import type { CliCommand } from '../cli-command.ts';
import type { CommandContext, Flags, Outcome, Runner } from '../command.ts';
import { baseUrlFlag, checkName, given, textFlag } from '../flags.ts';
import { renderTable } from '../output/render-table.ts';
import { terminalWidth } from '../terminal.ts';
import { writeJunit } from '../write-junit.ts';

/** `idkit smoke`, also `smoke-test` */
export function addSmoke(program: CliCommand, run: Runner): void {
  program
    .command('smoke')
    .alias('smoke-test')
    .description('test a running service: logins, tokens, logout, and the checklist after a restore')
    .option('--base-url <url>', 'test the service at this address; no platform directory is needed')
    .option('--realm <name...>', 'check discovery and user counts only for these realms')
    .option('--deep', 'also present a used refresh token, which the service must reject')
    .option('--junit <file>', 'write the results as JUnit XML')
    .examples([
      ['idkit smoke', 'runs every check that applies'],
      ['idkit smoke --deep --junit smoke.xml', 'in CI'],
      [
        'idkit smoke --base-url https://login.example.org --realm acme',
        'reads the credentials from the environment',
      ],
    ])
    .action(run(smokeTest));
}

async function smokeTest(context: CommandContext, flags: Flags): Promise<Outcome> {
  const baseUrl = baseUrlFlag(flags);
  const realms = flags['realm'] as string[] | undefined;
  for (const realm of realms ?? []) checkName(realm, '--realm');
  if (realms !== undefined && new Set(realms).size !== realms.length) {
    throw new IdkitError('IDKIT_USAGE', '--realm names a realm twice');
  }
  const settings = await (baseUrl === undefined ? context.loadPlatform() : context.loadSettings());
  const { renderJunit, smoke } = await import('../../procedures/index.ts');
  const { timeout } = context.globals;
  const result = await smoke(settings, {
    ...context.procedure,
    ...given('baseUrl', baseUrl),
    ...given('realms', realms),
    ...given('deep', flags['deep'] === true ? true : undefined),
    ...given('timeoutMilliseconds', timeout === undefined ? undefined : Math.ceil(timeout * 1000)),
  });
  const { findings, failure, ...data } = result;
  const junit = textFlag(flags, 'junit');
  if (junit !== undefined) await writeJunit(context, junit, renderJunit('smoke', result));
  return {
    data,
    text: [
      renderChecks(result.checks, terminalWidth(context.terminal)),
      `${result.passed} passed, ${result.failed} failed, ${renderCount(result.notApplicable, 'does not apply', 'do not apply')} (${result.baseUrl})`,
    ].join('\n'),
    findings,
    ...given('failure', failure),
  };
}

function renderChecks(checks: readonly SmokeCheck[], width: number | undefined): string {
  const words = { passed: 'passed', failed: 'FAILED', 'not-applicable': 'does not apply' } as const;
  return renderTable(
    ['OUTCOME', 'CHECK', 'SUBJECT', 'DETAIL'],
    checks.map((check) => [words[check.outcome], check.title, check.subject, check.detail]),
    width,
  );
}
