import { IdkitError } from '../../core/index.ts';
import type { CliCommand } from '../cli-command.ts';
import type { Runner } from '../command.ts';
import { given } from '../flags.ts';

/** `idkit drill [DIR]` */
export function addDrill(program: CliCommand, run: Runner): void {
  program
    .command('drill')
    .argument('[dir]', 'the set; the newest that can be restored unless told')
    .description('a whole test restore in an isolated place that never touches the platform; a report')
    .option('--keep', 'leave the isolated platform directory and name it')
    .option('--trust-unsealed', 'take a set without a seal as it is')
    .examples([
      ['idkit drill', 'restore the newest set somewhere else and test it'],
      ['idkit drill backups/20261101_020000 --keep', 'one set; look around afterwards'],
    ])
    .action(
      run(async (context, flags, [set]) => {
        if (set === '')
          throw new IdkitError('IDKIT_USAGE', 'the directory of a set is expected, and it is empty');
        const settings = await context.loadPlatform();
        const { readPassphrase } = await import('../../config/index.ts');
        const passphrase = await readPassphrase({
          env: context.env,
          prompt: context.promptPassphrase,
          signal: context.signal,
        });
        const { resolve } = await import('node:path');
        const { drill, renderDrillReport } = await import('../../procedures/index.ts');
        const result = await drill(settings, {
          ...context.procedure,
          env: context.env,
          passphrase,
          ...given('set', set === undefined ? undefined : resolve(context.cwd, set)),
          ...given('trustUnsealed', flags['trustUnsealed'] === true ? true : undefined),
          ...given('keep', flags['keep'] === true ? true : undefined),
        });
        const { findings, failure, ...data } = result;
        return { data, text: renderDrillReport(result), findings, ...given('failure', failure) };
      }),
    );
}
