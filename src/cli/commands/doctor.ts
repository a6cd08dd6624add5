import { resolve } from 'node:path';
import { IdkitError, renderCount } from '../../core/index.ts';
import type { DoctorResult } from '../../procedures/index.ts';
import type { CliCommand } from '../cli-command.ts';
import type { CommandContext, Flags, Outcome, Runner } from '../command.ts';
import { given, textFlag } from '../flags.ts';
import { CHECK_COLUMNS } from '../output/check-columns.ts';
import { withOutputFlags } from '../output/presentation.ts';
import { renderPairs, renderTable } from '../output/render-table.ts';
import { renderBytes } from '../output/render-units.ts';
import { SETTING_COLUMNS } from '../output/setting-columns.ts';
import { writeJunit } from '../write-junit.ts';

/** `idkit doctor` */
export function addDoctor(program: CliCommand, run: Runner): void {
  withOutputFlags(program.command('doctor'), { fields: 'id,detail', jq: "[?outcome=='failed'].detail" })
    .description(
      'examine settings, files, disks, clocks, the database, TLS, cookies and proxy headers, and collect them for support',
    )
    .option('--bundle <file>', 'also write a .tar.gz without secrets, for a support engineer')
    .option('--log <file...>', 'add the end of a log file to the bundle')
    .option('--junit <file>', 'write the checks as JUnit XML')
    .examples([
      ['idkit doctor', 'runs every check; exit code 3 if one fails'],
      ['idkit doctor --bundle idkit.tar.gz --log serve.log', 'collects what a support engineer asks for'],
      [`idkit doctor --jq "[?outcome=='failed'].detail"`, 'prints what is wrong'],
      ['idkit doctor --verbose', 'also shows every setting with its source'],
    ])
    .action(run(examine));
}

async function examine(context: CommandContext, flags: Flags): Promise<Outcome> {
  const bundle = textFlag(flags, 'bundle');
  const logs = (flags['log'] as string[] | undefined)?.map((file) => resolve(context.cwd, file));
  if (logs !== undefined && bundle === undefined) throw new IdkitError('IDKIT_USAGE', '--log needs --bundle');
  const settings = await context.loadPlatform();
  const { doctor, renderJunit } = await import('../../procedures/index.ts');
  const result = await doctor(settings, {
    ...context.procedure,
    env: context.env,
    ...given('bundle', bundle === undefined ? undefined : resolve(context.cwd, bundle)),
    ...given('logs', logs),
  });
  const junit = textFlag(flags, 'junit');
  if (junit !== undefined) await writeJunit(context, junit, renderJunit('doctor', result));
  const { findings, ...data } = result;
  return {
    data,
    findings,
    list: {
      noun: 'checks',
      columns: CHECK_COLUMNS,
      records: result.checks.map((check) => ({ ...check })),
      name: 'id',
      intro: (width) => describePlatform(result, { verbose: context.globals.verbose, width }),
      summary: `\n${result.passed} passed, ${result.failed} failed, ${renderCount(result.notApplicable, 'does not apply', 'do not apply')}`,
    },
  };
}

function describePlatform(
  result: DoctorResult,
  { verbose, width }: { verbose: boolean; width: number | undefined },
): readonly string[] {
  const { machine, settings } = result;
  const shown = verbose ? settings : settings.filter(({ source }) => source !== 'default');
  const pairs = [
    ['idkit', `${machine.idkit} on Node.js ${machine.node}, OpenSSL ${machine.openssl}`],
    ['system', `${machine.system}, ${machine.timeZone}`],
    [
      'machine',
      `${renderCount(machine.processors, 'processor')}, ${renderBytes(machine.memoryBytes)} of memory`,
    ],
    ['directory', result.dir],
    ['bundle', result.bundle],
  ] as const;
  return [
    renderPairs(pairs, width),
    '',
    renderTable(
      SETTING_COLUMNS,
      shown.map((setting) => ({ ...setting })),
      width,
    ),
  ];
}
