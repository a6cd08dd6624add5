import { resolve } from 'node:path';
import { IdkitError, renderCount } from '../../core/index.ts';
import type { DoctorResult } from '../../procedures/index.ts';
import type { CliCommand } from '../cli-command.ts';
import type { CommandContext, Flags, Outcome, Runner } from '../command.ts';
import { given, textFlag } from '../flags.ts';
import { renderPairs, renderTable } from '../output/render-table.ts';
import { renderBytes } from '../output/render-units.ts';
import { terminalWidth } from '../terminal.ts';
import { writeJunit } from '../write-junit.ts';

/** `idkit doctor` */
export function addDoctor(program: CliCommand, run: Runner): void {
  program
    .command('doctor')
    .description(
      'examine settings, files, disks, clocks, the database, TLS, cookies and proxy headers, and collect them for support',
    )
    .option('--bundle <file>', 'also write a .tar.gz without secrets, for a support engineer')
    .option('--log <file...>', 'add the end of a log file to the bundle')
    .option('--junit <file>', 'write the checks as JUnit XML')
    .examples([
      ['idkit doctor', 'runs every check; exit code 3 if one fails'],
      ['idkit doctor --bundle idkit.tar.gz --log serve.log', 'collects what a support engineer asks for'],
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
    text: renderDoctor(result, context.globals.verbose, terminalWidth(context.terminal)),
  };
}

function renderDoctor(result: DoctorResult, verbose: boolean, width: number | undefined): string {
  const { machine, checks, settings } = result;
  const words = { passed: 'passed', failed: 'FAILED', 'not-applicable': 'does not apply' } as const;
  const shown = verbose ? settings : settings.filter(({ source }) => source !== 'default');
  return [
    renderPairs(
      [
        ['idkit', `${machine.idkit} on Node.js ${machine.node}, OpenSSL ${machine.openssl}`],
        ['system', `${machine.system}, ${machine.timeZone}`],
        [
          'machine',
          `${renderCount(machine.processors, 'processor')}, ${renderBytes(machine.memoryBytes)} of memory`,
        ],
        ['directory', result.dir],
        ['bundle', result.bundle],
      ],
      width,
    ),
    '',
    renderTable(
      ['SETTING', 'VALUE', 'SOURCE'],
      shown.map(({ name, value, source }) => [name, value === null ? 'null' : value, source]),
      width,
    ),
    '',
    renderTable(
      ['OUTCOME', 'CHECK', 'SUBJECT', 'DETAIL'],
      checks.map(({ outcome, id, subject, detail }) => [words[outcome], id, subject, detail]),
      width,
    ),
    '',
    `${result.passed} passed, ${result.failed} failed, ${renderCount(result.notApplicable, 'does not apply', 'do not apply')}`,
  ].join('\n');
}
