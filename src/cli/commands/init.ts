import { type Command, Option } from 'commander';
import { IdkitError } from '../../core/index.ts';
import type { Runner } from '../command.ts';
import { examples } from './examples.ts';

/** `idkit init` */
export function addInit(program: Command, run: Runner): void {
  program
    .command('init')
    .description('write a platform directory; files only, and never over one that exists')
    .addOption(new Option('--runtime <kind>', 'what runs the platform: embedded').default('embedded'))
    .addOption(
      new Option('--service <kind>', 'which token service').choices(['idkit', 'keycloak']).default('idkit'),
    )
    .addHelpText(
      'after',
      examples([
        ['idkit init', 'a platform directory ./idkit with generated secrets in .env'],
        ['idkit init --dir /srv/idkit', 'the same in another place'],
      ]),
    )
    .action(
      run(async (context, flags) => {
        const { initPlatform, resolvePlatformDirectory } = await import('../../config/index.ts');
        const runtime = flags['runtime'] as string;
        if (runtime === 'compose') {
          throw new IdkitError('IDKIT_NOT_YET', '--runtime compose is not built in this version');
        }
        if (runtime !== 'embedded') {
          throw new IdkitError('IDKIT_USAGE', `--runtime must be embedded, not ${JSON.stringify(runtime)}`);
        }
        const dir = resolvePlatformDirectory({
          flag: context.globals.dir,
          env: context.env,
          cwd: context.cwd,
        });
        const made = initPlatform(dir, {
          runtime,
          service: flags['service'] as 'idkit' | 'keycloak',
          env: context.env,
        });
        for (const file of made.kept) context.reporter.note(`${file} is there already and stays as it is`);
        return {
          data: { dir, created: made.created, kept: made.kept, generated: made.generated },
          text: [...made.created.map((file) => `wrote ${file}`), dir].join('\n'),
        };
      }),
    );
}
