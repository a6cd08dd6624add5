import type { ScheduleOptions } from './options.ts';
import { markFile } from './owned-files.ts';
import { escapeForCron, quoteForShell } from './quote.ts';
import { timerArguments } from './timers.ts';

/** The search path of the commands. cron's own is `/usr/bin:/bin`, without the usual places of psql, rsync or docker. */
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/**
 * Renders a crontab. cron mails what a command prints, so the results on stdout are discarded, and errors and findings
 * on stderr are not.
 *
 * @param system whether each line has the name of the user, as the files in /etc/cron.d have
 */
export function renderCrontab(options: ScheduleOptions, system: boolean): string {
  const { dir, program, user, passphraseFile, mailTo = 'root', timers } = options;
  const lines = timers.flatMap((timer) => {
    const words = [...program, '--dir', dir, ...timerArguments(timer)].map(quoteForShell);
    const fields = system ? `${timer.cron} ${user}` : timer.cron;
    return [`# ${timer.why}`, `${fields} ${escapeForCron(words.join(' '))} >/dev/null`];
  });
  const text = [
    '# Times are UTC. A cron that does not support CRON_TZ uses the time zone of the machine.',
    'CRON_TZ=UTC',
    'SHELL=/bin/sh',
    `PATH=${PATH}`,
    '# cron mails errors and findings to this address.',
    `MAILTO=${mailTo}`,
    `# The passphrase is in this file, which only the user ${user} may read.`,
    `IDKIT_BACKUP_PASSPHRASE_FILE=${passphraseFile}`,
    ...lines,
    '',
  ].join('\n');
  return markFile(dir, text);
}
