import type { CliCommand } from '../cli-command.ts';
import type { Runner } from '../command.ts';
import { renderTable } from '../output/render-table.ts';

/** `idkit config show` */
export function addConfig(program: CliCommand, run: Runner): void {
  program
    .command('config')
    .description('show the effective settings')
    .examples([['idkit config show', 'each setting with its value and its source']])
    .command('show')
    .description(
      'show each setting with its value and its source (flag, environment, .env, idkit.yaml or default), and hide secrets',
    )
    .examples([['idkit config show', 'each setting with its value and its source']])
    .action(
      run(async (context) => {
        const settings = await context.loadPlatform();
        const { showSettings } = await import('../../config/index.ts');
        const shown = showSettings(settings);
        return {
          data: {
            dir: settings.dir,
            settings: shown.map(({ name, value, source }) => ({ name, value, source })),
          },
          text: renderTable(
            ['SETTING', 'VALUE', 'SOURCE'],
            shown.map(({ name, value, source }) => [name, value === null ? 'null' : value, source]),
          ),
        };
      }),
    );
}
