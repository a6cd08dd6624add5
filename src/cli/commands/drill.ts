import { resolve } from 'node:path';
import { IdkitError } from '../../core/index.ts';
import type { CliCommand } from '../cli-command.ts';
import type { Runner } from '../command.ts';
import { given, textFlag } from '../flags.ts';
import { readMoment } from '../input/moment.ts';
import { findPrivateKeys, KEY_FLAG } from '../input/private-keys.ts';

/** `idkit drill [DIR]` */
export function addDrill(program: CliCommand, run: Runner): void {
  program
    .command('drill')
    .argument(
      '[set]',
      'a set: its directory, its name in the backup root, s3://bucket/prefix/NAME, or latest (default: the newest set that can be restored)',
    )
    .description('restore a set in isolation, test it, and report the result, without changing the platform')
    .option(
      '--at <moment>',
      'test the database of this moment from the archive: a time such as 2026-11-22T10:15:03Z, or before:EVENT-ID',
    )
    .option('--keep', 'keep the isolated platform directory and print its path')
    .option(...KEY_FLAG)
    .option('--trust-unsealed', 'accept a set without a seal')
    .option('--report-dir <dir>', 'the directory of the reports (default: .drills in the backup root)')
    .examples([
      ['idkit drill', 'tests the newest set'],
      ['idkit drill backups/20261101_020000 --keep', 'tests one set and keeps the restored platform'],
      ['idkit drill --at 2026-11-22T10:15:03Z', 'tests a moment of the archive'],
    ])
    .action(
      run(async (context, flags, [set]) => {
        if (set === '') throw new IdkitError('IDKIT_USAGE', 'the directory of the set is an empty string');
        const moment = readMoment(textFlag(flags, 'at'));
        const settings = await context.loadPlatform();
        const { readPassphrase } = await import('../../config/index.ts');
        const privateKeys = await findPrivateKeys(context, flags);
        const passphrase = await readPassphrase({
          env: context.env,
          prompt: context.promptPassphrase,
          signal: context.signal,
        });
        const { drill, renderDrillReport, resolveSet, resolveSetBefore } = await import(
          '../../procedures/index.ts'
        );
        const { cwd, procedure } = context;
        const reportDir = textFlag(flags, 'reportDir');
        const findSet = async () =>
          moment === undefined ? undefined : resolveSetBefore(settings, moment, procedure);
        const dir =
          set === undefined ? await findSet() : await resolveSet(settings, set, { ...procedure, cwd });
        const result = await drill(settings, {
          ...context.procedure,
          env: context.env,
          passphrase,
          ...given('privateKeys', privateKeys),
          ...given('set', dir),
          ...given('moment', moment),
          ...given('reportDir', reportDir === undefined ? undefined : resolve(cwd, reportDir)),
          ...given('trustUnsealed', flags['trustUnsealed'] === true ? true : undefined),
          ...given('keep', flags['keep'] === true ? true : undefined),
        });
        const { findings, failure, ...data } = result;
        return { data, text: renderDrillReport(result), findings, ...given('failure', failure) };
      }),
    );
}
