import type { CliCommand } from '../cli-command.ts';
import type { Runner } from '../command.ts';
import { withOutputFlags } from '../output/presentation.ts';
import { SETTING_COLUMNS } from '../output/setting-columns.ts';

/** `idkit config show` and `idkit config themes` */
export function addConfig(program: CliCommand, run: Runner): void {
  const config = program
    .command('config')
    .description('show the effective settings, and check the themes of the pages')
    .examples([
      ['idkit config show', 'each setting with its value and its source'],
      ['idkit config themes', 'each theme in config/themes with its problems'],
    ]);
  addShow(config, run);
  addThemes(config, run);
}

function addShow(config: CliCommand, run: Runner): void {
  withOutputFlags(config.command('show'), { fields: 'name,value', jq: "[?source!='default'].name" })
    .description(
      'show each setting with its value and its source (flag, environment, .env, idkit.yaml or default), and hide secrets',
    )
    .examples([['idkit config show', 'each setting with its value and its source']])
    .action(
      run(async (context) => {
        const settings = await context.loadPlatform();
        const { showSettings } = await import('../../config/index.ts');
        const shown = showSettings(settings).map(({ name, value, source }) => ({ name, value, source }));
        return {
          data: { dir: settings.dir, settings: shown },
          list: { noun: 'settings', columns: SETTING_COLUMNS, records: shown, name: 'name' },
        };
      }),
    );
}

function addThemes(config: CliCommand, run: Runner): void {
  withOutputFlags(config.command('themes'), { fields: 'name,usable', jq: '[?usable].name' })
    .description('check each theme in config/themes: its colours, logo, texts and links')
    .examples([['idkit config themes', 'each theme with its problems; exit code 3 if one cannot be used']])
    .action(
      run(async (context) => {
        const settings = await context.loadPlatform();
        const { checkThemes } = await import('../../service/index.ts');
        const themes = await checkThemes(settings);
        const problems = themes.flatMap((theme) => theme.problems);
        const line = ({ place, message, hint }: (typeof problems)[number]) =>
          `${place}: ${message}${hint === undefined ? '' : ` (${hint})`}`;
        const warnings = problems
          .filter(({ kind }) => kind === 'warning')
          .map((one) => `warning: ${line(one)}`);
        return {
          data: { dir: settings.dir, themes },
          list: {
            noun: 'themes',
            columns: [
              { title: 'THEME', field: 'name' },
              { title: 'USABLE', field: 'usable' },
              { title: 'HAS', field: 'has', priority: 2 },
            ],
            records: themes.map((theme) => ({ ...theme })),
            name: 'name',
            empty: `there is no theme in ${settings.dir}/config/themes`,
            ...(warnings.length === 0 ? {} : { summary: warnings.join('\n') }),
          },
          findings: problems
            .filter(({ kind }) => kind === 'error')
            .map((one) => ({ code: 'THEME_INVALID', message: line(one) })),
        };
      }),
    );
}
