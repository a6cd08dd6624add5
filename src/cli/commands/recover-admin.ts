import type { CliCommand } from '../cli-command.ts';
import type { Runner } from '../command.ts';
import { checkName, given, textFlag } from '../flags.ts';

/** `idkit recover-admin` */
export function addRecoverAdmin(program: CliCommand, run: Runner): void {
  program
    .command('recover-admin')
    .description(
      'create or reset an administrator in the database if no administrator can log in (stop serve first)',
    )
    .option('--username <name>', 'the username of the administrator (default: IDKIT_ADMIN_USERNAME in .env)')
    .examples([['idkit recover-admin', 'prints the new password, once']])
    .action(
      run(async (context, flags) => {
        const username = textFlag(flags, 'username');
        if (username !== undefined) checkName(username, '--username');
        const settings = await context.loadPlatform();
        const { recoverAdmin } = await import('../../procedures/index.ts');
        const result = await recoverAdmin(settings, { ...context.procedure, ...given('username', username) });
        const { findings, failure, password, ...data } = result;
        if (data.envUpdated) context.reporter.note(`${settings.dir}/.env contains the new password`);
        // The operator needs the password, and the database stores only its hash. No other output shows it.
        const shown = password.reveal();
        return {
          data: { ...data, password: shown },
          text: `username  ${data.username}\npassword  ${shown}`,
          findings,
          ...given('failure', failure),
        };
      }),
    );
}
