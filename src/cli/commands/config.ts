import type { CliCommand } from '../cli-command.ts';
import type { Runner } from '../command.ts';
import { renderTable } from '../output/render-table.ts';
import { terminalWidth } from '../terminal.ts';

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
  config
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
            terminalWidth(context.terminal),
          ),
        };
      }),
    );
}

function addThemes(config: CliCommand, run: Runner): void {
  config
    .command('themes')
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
        const rows = themes.map(({ name, usable, has }) => [name, usable ? 'yes' : 'no', has.join(', ')]);
        const table =
          themes.length === 0
            ? `there is no theme in ${settings.dir}/config/themes`
            : renderTable(['THEME', 'USABLE', 'HAS'], rows, terminalWidth(context.terminal));
        return {
          data: { dir: settings.dir, themes },
          text: [table.trimEnd(), ...warnings].join('\n'),
          findings: problems
            .filter(({ kind }) => kind === 'error')
            .map((one) => ({ code: 'THEME_INVALID', message: line(one) })),
        };
      }),
    );
}
