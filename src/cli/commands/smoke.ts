import { IdkitError, renderCount } from '../../core/index.ts';
import type { CliCommand } from '../cli-command.ts';
import type { CommandContext, Flags, Outcome, Runner } from '../command.ts';
import { baseUrlFlag, checkName, given, textFlag } from '../flags.ts';
import { TITLED_CHECK_COLUMNS } from '../output/check-columns.ts';
import { withOutputFlags } from '../output/presentation.ts';
import { writeJunit } from '../write-junit.ts';

/** `idkit smoke`, also `smoke-test` */
export function addSmoke(program: CliCommand, run: Runner): void {
  withOutputFlags(program.command('smoke'), { fields: 'id,detail', jq: "[?outcome=='failed'].detail" })
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
    list: {
      noun: 'checks',
      columns: TITLED_CHECK_COLUMNS,
      records: result.checks.map((check) => ({ ...check })),
      name: 'id',
      summary: `${result.passed} passed, ${result.failed} failed, ${renderCount(result.notApplicable, 'does not apply', 'do not apply')} (${result.baseUrl})`,
    },
    findings,
    ...given('failure', failure),
  };
}
