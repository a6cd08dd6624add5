import type { Settings } from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';
import type { PartsResult } from '../../procedures/index.ts';
import type { CliCommand } from '../cli-command.ts';
import type { CommandContext, Outcome, Runner } from '../command.ts';
import { directoryMissing } from '../context.ts';
import { given } from '../flags.ts';
import type { ListOutcome } from '../output/lists.ts';
import { withOutputFlags } from '../output/presentation.ts';

/** `idkit up` */
export function addUp(program: CliCommand, run: Runner): void {
  withOutputFlags(program.command('up'), { fields: 'name,health', jq: "[?health!='UP'].name" })
    .description(
      'start the containers in order (database, service, proxy, applications), and wait until each one is ready',
    )
    .examples([
      ['idkit up', 'after idkit init --runtime compose, or after a change to compose.yaml or .env'],
      [
        'idkit up --timeout 60',
        'reports each container that does not start in time, with the end of its log',
      ],
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
    .description('stop and remove the containers in reverse order; the data stays in the volumes')
    .examples([
      ['idkit down', 'stops the platform; idkit up starts it again'],
      [
        'idkit down && idkit up',
        'applies a change to idkit.yaml or config/, which idkit up alone does not apply',
      ],
    ])
    .action(
      run(async (context) => {
        const settings = await loadContainerPlatform(context, 'down');
        const { down } = await import('../../procedures/index.ts');
        return renderStopped(await down(settings, context.procedure));
      }),
    );
}

/**
 * Returns how many seconds each container has to start. `--timeout` aborts the whole command, so containers get less
 * time. The command can then still report the container that did not start, with its log.
 */
function withinSeconds({ globals }: CommandContext): number | undefined {
  return globals.timeout === undefined ? undefined : globals.timeout * 0.7;
}

/** @throws IDKIT_DIRECTORY_MISSING; IDKIT_USAGE for the embedded platform, which has no containers */
async function loadContainerPlatform(context: CommandContext, command: 'up' | 'down'): Promise<Settings> {
  const settings = await context.loadSettings();
  if (!settings.exists) throw directoryMissing(settings.dir, 'idkit init --runtime compose');
  if (settings.runtime === 'compose') return settings;
  throw new IdkitError(
    'IDKIT_USAGE',
    `${command} needs a container platform, but ${settings.dir} is an embedded one`,
    {
      hints: [
        command === 'up'
          ? 'idkit serve runs the service of this platform'
          : 'Ctrl-C or SIGTERM stops idkit serve, which runs the service of this platform',
        'idkit init --runtime compose creates a container platform',
      ],
    },
  );
}

function renderStopped({ findings, failure, parts, milliseconds }: PartsResult): Outcome {
  const stopped = parts.map(({ name }) => name);
  return {
    data: { stopped, milliseconds },
    text: stopped.length === 0 ? 'no container was running' : `stopped ${stopped.join(', ')}`,
    findings,
    ...given('failure', failure),
  };
}

function render(result: PartsResult): Outcome {
  const { findings, failure, ...data } = result;
  const list: ListOutcome = {
    noun: 'parts',
    columns: [
      { title: 'PART', field: 'name' },
      { title: 'STATE', field: 'state' },
      { title: 'HEALTH', field: 'health' },
    ],
    records: result.parts.map((part) => ({ ...part })),
    name: 'name',
    ...given('summary', result.baseUrl),
  };
  return { data, list, findings, ...given('failure', failure) };
}
