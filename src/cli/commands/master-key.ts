import { renderCount } from '../../core/index.ts';
import type { CliCommand } from '../cli-command.ts';
import type { Runner } from '../command.ts';
import { given } from '../flags.ts';

/** `idkit master-key rotate` */
export function addMasterKey(program: CliCommand, run: Runner): void {
  program
    .command('master-key')
    .description('change the key that encrypts secrets at rest')
    .examples([['idkit master-key rotate', 'safe to interrupt and run again']])
    .command('rotate')
    .description(
      'generate a new master key, write it to .env, and encrypt every secret with it (stop serve first)',
    )
    .examples([['idkit master-key rotate', 'safe to interrupt and run again']])
    .action(
      run(async (context) => {
        const settings = await context.loadPlatform();
        const { rotateMasterKey } = await import('../../procedures/index.ts');
        const { findings, failure, ...data } = await rotateMasterKey(settings, context.procedure);
        const how = data.resumed ? 'finished the interrupted rotation' : 'generated a new master key';
        return {
          data,
          text: `${how}: ${renderCount(data.records, 'secret is', 'secrets are')} encrypted with the new key`,
          findings,
          ...given('failure', failure),
        };
      }),
    );
}
