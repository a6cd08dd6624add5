import type { CliCommand } from '../cli-command.ts';
import type { Runner } from '../command.ts';
import { given } from '../flags.ts';

/** `idkit master-key rotate` */
export function addMasterKey(program: CliCommand, run: Runner): void {
  program
    .command('master-key')
    .description('the key that encrypts secrets at rest')
    .examples([['idkit master-key rotate', 'may be killed and run again']])
    .command('rotate')
    .description('a new master key: writes .env, seals every secret anew; serve must be stopped')
    .examples([['idkit master-key rotate', 'may be killed and run again']])
    .action(
      run(async (context) => {
        const settings = await context.loadPlatform();
        const { rotateMasterKey } = await import('../../procedures/index.ts');
        const { findings, failure, ...data } = await rotateMasterKey(settings, context.procedure);
        const how = data.resumed ? 'finished the rotation that was begun' : 'new master key';
        return {
          data,
          text: `${how}: ${data.records} secrets sealed anew`,
          findings,
          ...given('failure', failure),
        };
      }),
    );
}
