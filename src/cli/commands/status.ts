import { setTimeout as sleep } from 'node:timers/promises';
import { IdkitError } from '../../core/index.ts';
import type { StatusReport } from '../../procedures/index.ts';
import type { CliCommand } from '../cli-command.ts';
import type { CommandContext, Flags, Outcome, Runner } from '../command.ts';
import { textFlag, wholeNumber } from '../flags.ts';
import { cutTo, wrapLines } from '../output/display-width.ts';
import { oneLine, printable } from '../output/output.ts';
import { withOutputFlags } from '../output/presentation.ts';
import { describeStatus, renderJudgements } from '../output/render-status.ts';
import { renderPairs } from '../output/render-table.ts';
import { terminalWidth } from '../terminal.ts';

/** Default of `--interval` in seconds. */
const INTERVAL = '5';

/** `idkit status` */
export function addStatus(program: CliCommand, run: Runner): void {
  withOutputFlags(program.command('status'), {
    fields: 'service.health,lastBackup.name',
    jq: 'lastBackup.name',
  })
    .description(
      'show health, versions, sessions, backups, verification, drill, timers and keys, and find what is wrong',
    )
    .option('--watch', 'show the state every few seconds, until Ctrl-C')
    .option('--interval <seconds>', `the pause of --watch in seconds (default: ${INTERVAL})`)
    .option(
      '--prometheus [file]',
      'write the state as metrics for the textfile collector of node_exporter, to the file or to stdout',
    )
    .examples([
      ['idkit status', 'exit code 3 if something is wrong'],
      ['idkit status --json', 'as JSON for monitoring'],
      ["idkit status --jq 'lastBackup.ageSeconds'", 'prints one figure'],
      ['idkit status --watch', 'redraws the screen every 5 seconds'],
      [
        'idkit status --quiet --prometheus /var/lib/prometheus/node-exporter/idkit.prom',
        'in cron, replaces the file as a whole',
      ],
    ])
    .action(run(showStatus));
}

async function showStatus(context: CommandContext, flags: Flags): Promise<Outcome> {
  const interval = textFlag(flags, 'interval');
  const target = flags['prometheus'];
  if (interval !== undefined && flags['watch'] !== true)
    throw new IdkitError('IDKIT_USAGE', '--interval needs --watch');
  const chosen = ['output', 'fields', 'jq'].find((name) => flags[name] !== undefined);
  if (chosen !== undefined && (flags['watch'] === true || target !== undefined))
    throw new IdkitError(
      'IDKIT_USAGE',
      `--${chosen} and ${flags['watch'] === true ? '--watch' : '--prometheus'} exclude each other`,
    );
  if (flags['watch'] === true && target !== undefined)
    throw new IdkitError('IDKIT_USAGE', '--watch and --prometheus exclude each other');
  const settings = await context.loadPlatform();
  const { renderStatusMetrics, status } = await import('../../procedures/index.ts');
  if (flags['watch'] === true) {
    const seconds = wholeNumber(interval ?? INTERVAL, '--interval', { from: 1, to: 86_400 });
    const silent = { ...context.procedure.reporter, note: () => undefined };
    return watch(context, seconds, () => status(settings, { ...context.procedure, reporter: silent }));
  }
  const { findings, ...data } = await status(settings, context.procedure);
  const report = { findings, ...data };
  const shown = { data, findings, warnings: report.warnings };
  const now = context.procedure.clock.now();
  if (target === undefined)
    return { ...shown, record: { value: { ...report }, pairs: describeStatus(report, now), name: 'dir' } };
  const metrics = await renderStatusMetrics(settings, report, now);
  if (typeof target !== 'string') return { ...shown, text: metrics.trimEnd(), verbatim: true };
  const { resolve } = await import('node:path');
  const { replaceFile } = await import('../../files/index.ts');
  replaceFile(resolve(context.cwd, target), metrics, 0o644);
  return shown;
}

/**
 * Shows the state until Ctrl-C or SIGTERM, which end the command with exit code 0. Redraws on a terminal, prints a block
 * for each round off a terminal, and a line for each round with `--json`.
 */
async function watch(
  context: CommandContext,
  seconds: number,
  read: () => Promise<StatusReport>,
): Promise<Outcome> {
  const { signal, terminal, globals } = context;
  const isScreen = terminal.stdout.isTTY === true && !globals.json;
  let rounds = 0;
  while (!signal.aborted) {
    const report = await read().catch((error) => {
      if (signal.aborted) return undefined;
      throw error;
    });
    if (report === undefined || signal.aborted) break;
    const now = context.procedure.clock.now();
    terminal.stdout.write(
      globals.json
        ? `${printable(JSON.stringify({ type: 'status', at: new Date(now).toISOString(), ...report }))}\n`
        : isScreen
          ? redraw(renderRound(report, now, terminalWidth(terminal)), terminal.stdout, rounds === 0)
          : `${printable(renderRound(report, now, undefined))}\n\n`,
    );
    rounds += 1;
    await sleep(seconds * 1000, undefined, { signal }).catch(() => undefined);
  }
  const { reason } = signal;
  const isEnd =
    reason instanceof IdkitError &&
    (reason.code === 'IDKIT_INTERRUPTED' || reason.code === 'IDKIT_TERMINATED');
  if (!isEnd) throw reason;
  return { data: { rounds } };
}

function renderRound(report: StatusReport, now: number, width: number | undefined): string {
  const time = new Date(now).toISOString().replace('T', ' ').slice(0, 19);
  const judgements = renderJudgements(report).map(oneLine).join('\n');
  return [
    `${time} UTC`,
    renderPairs(describeStatus(report, now), width),
    width === undefined ? judgements : wrapLines(judgements, width),
  ].join('\n');
}

/** Returns the text that replaces the screen. It is cut to the size of the terminal, so that nothing scrolls. */
function redraw(text: string, size: { columns?: number; rows?: number }, first: boolean): string {
  const { columns = 80, rows = 24 } = size;
  const lines = printable(text).split('\n');
  const fits =
    lines.length < rows ? lines : [...lines.slice(0, rows - 2), `… ${lines.length - rows + 2} more lines`];
  const cut = fits.map((line) => cutTo(line, columns));
  return `${first ? '\x1b[2J' : ''}\x1b[H${cut.map((line) => `${line}\x1b[K`).join('\n')}\n\x1b[J`;
}
