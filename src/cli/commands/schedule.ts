import { Option } from 'commander';
import type { CliCommand } from '../cli-command.ts';
import type { Runner } from '../command.ts';

/** `idkit schedule` */
export function addSchedule(program: CliCommand, run: Runner): void {
  program
    .command('schedule')
    .description('print timers for backup, verify and drill, as cron lines or systemd units')
    .addOption(new Option('--format <kind>', 'the scheduler').choices(['cron', 'systemd']).default('cron'))
    .examples([
      ['(crontab -l; idkit schedule) | crontab -', 'adds the lines to your crontab'],
      ['idkit schedule --format systemd', 'prints unit and timer files'],
    ])
    .action(
      run(async (context, flags) => {
        const settings = await context.loadPlatform();
        const format = flags['format'] as 'cron' | 'systemd';
        const { renderSchedule } = await import('../../procedures/index.ts');
        const text = renderSchedule(settings, { format, command: 'idkit' });
        return { data: { format, schedule: text }, text: text.trimEnd() };
      }),
    );
}
