import type { Settings } from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';
import type { PartsResult } from '../../procedures/index.ts';
import type { CliCommand } from '../cli-command.ts';
import type { CommandContext, Outcome, Runner } from '../command.ts';
import { directoryMissing } from '../context.ts';
import { given } from '../flags.ts';
import { renderTable } from '../output/render-table.ts';

/** `idkit up` */
export function addUp(program: CliCommand, run: Runner): void {
  program
    .command('up')
    .description('start the containers in order, waiting for each: database, service, proxy, applications')
    .examples([
      [
        'idkit up',
        'after idkit init --runtime compose, and after a change of compose.yaml, .env or idkit.yaml',
      ],
      ['idkit up --timeout 60', 'what is not up by then is named with the end of its log'],
    ])
    .action(
      run(async (context) => {
        const settings = await loadContainerPlatform(context, 'up');
        const { up } = await import('../../procedures/index.ts');
        return render(
          await up(settings, { ...context.procedure, ...given('withinSeconds', withinSeconds(context)) }),
        );
      }),
    );
}

/** `idkit down` */
export function addDown(program: CliCommand, run: Runner): void {
  program
    .command('down')
    .description('stop the containers in the opposite order and remove them; the volumes with the data stay')
    .examples([['idkit down', 'idkit up brings everything back']])
    .action(
      run(async (context) => {
        const settings = await loadContainerPlatform(context, 'down');
        const { down } = await import('../../procedures/index.ts');
        return renderStopped(await down(settings, context.procedure));
      }),
    );
}

/**
 * With `--timeout`, a part that does not come up is named with its log before the command as a whole is broken off.
 */
function withinSeconds({ globals }: CommandContext): number | undefined {
  return globals.timeout === undefined ? undefined : globals.timeout * 0.7;
}

/** @throws IDKIT_DIRECTORY_MISSING where there is none; IDKIT_USAGE on the embedded platform (contract §3) */
async function loadContainerPlatform(context: CommandContext, command: 'up' | 'down'): Promise<Settings> {
  const settings = await context.loadSettings();
  if (!settings.exists) throw directoryMissing(settings.dir, 'idkit init --runtime compose');
  if (settings.runtime === 'compose') return settings;
  throw new IdkitError(
    'IDKIT_USAGE',
    `${command} is for a container platform, and ${settings.dir} is an embedded one`,
    {
      hints: [
        command === 'up'
          ? 'idkit serve runs the service here'
          : 'Ctrl-C or SIGTERM stops idkit serve, which runs the service here',
        'idkit init --runtime compose writes a container platform',
      ],
    },
  );
}

function renderStopped({ findings, failure, parts, milliseconds }: PartsResult): Outcome {
  const stopped = parts.map(({ name }) => name);
  return {
    data: { stopped, milliseconds },
    text: stopped.length === 0 ? 'nothing ran' : `stopped ${stopped.join(', ')}`,
    findings,
    ...given('failure', failure),
  };
}

function render(result: PartsResult): Outcome {
  const { findings, failure, ...data } = result;
  const rows = result.parts.map(({ name, state, health }) => [name, state, health]);
  const text = [
    renderTable(['PART', 'STATE', 'HEALTH'], rows),
    ...(result.baseUrl === undefined ? [] : [result.baseUrl]),
  ];
  return { data, text: text.join('\n'), findings, ...given('failure', failure) };
}
