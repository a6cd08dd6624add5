import { IdkitError, renderCount } from '../../../../core/index.ts';
import type { CliCommand } from '../../../cli-command.ts';
import type { CommandContext, Flags, Outcome, Runner } from '../../../command.ts';
import { textFlag } from '../../../flags.ts';
import { confirm } from '../../../terminal.ts';
import { realmFlag, withAdminFlags } from '../connect.ts';
import { type BulkWork, runBulk, withBulkFlags } from './run-bulk.ts';
import { changeGroup, changeRole, deleteUsers, importUsers, setEnabled } from './users.ts';

const FILE = 'CSV with a header or JSON lines; - is stdin';

/** `idkit admin bulk …` and `idkit admin user import`: changes to all users of a file. */
export function addBulkCommands(admin: CliCommand, run: Runner): void {
  const bulk = admin
    .command('bulk')
    .description('change all users of a file: roles, groups, enable, disable, delete')
    .examples([
      ['idkit admin bulk add-role auditor users.csv --realm acme', 'gives a role to each user of the file'],
    ]);
  const add = (
    command: CliCommand,
    work: (flags: Flags, args: readonly (string | undefined)[]) => BulkWork,
  ): CliCommand =>
    withAdminFlags(withBulkFlags(command), { realm: true }).action(
      run((context, flags, args) => runBulk(context, flags, String(args.at(-1)), work(flags, args))),
    );

  for (const change of ['add', 'remove'] as const) {
    const toUsers = change === 'add' ? 'to' : 'from';
    add(
      bulk
        .command(`${change}-role`)
        .argument('<role>', 'the name of the role')
        .argument('<file>', FILE)
        .description(`${change} a role ${toUsers} each user of a file`)
        .option('--client <client-id>', 'a role of this client instead of the realm')
        .examples([
          [`idkit admin bulk ${change}-role auditor users.csv --realm acme`, 'a role of the realm'],
          [
            `idkit admin bulk ${change}-role view-users users.csv --realm acme --client realm-management`,
            'a role of a client',
          ],
        ]),
      (flags, [role]) => changeRole(change, { role: String(role), client: textFlag(flags, 'client') }),
    );
    add(
      bulk
        .command(`${change}-group`)
        .argument('<group>', 'the path of the group, such as /sales/berlin')
        .argument('<file>', FILE)
        .description(
          change === 'add' ? 'add each user of a file to a group' : 'remove each user of a file from a group',
        )
        .examples([
          [`idkit admin bulk ${change}-group /sales users.csv --realm acme`, 'reads the column username'],
        ]),
      (_, [group]) => changeGroup(change, String(group)),
    );
  }
  for (const enabled of [true, false]) {
    const verb = enabled ? 'enable' : 'disable';
    add(
      bulk
        .command(verb)
        .argument('<file>', FILE)
        .description(`${verb} each user of a file`)
        .examples([[`idkit admin bulk ${verb} users.csv --realm acme --dry-run`, 'shows what would change']]),
      () => setEnabled(enabled),
    );
  }
  withAdminFlags(
    withBulkFlags(bulk.command('delete').argument('<file>', FILE).description('delete each user of a file')),
    { realm: true },
  )
    .examples([['idkit admin bulk delete leavers.csv --realm acme', 'asks first']])
    .action(run((context, flags, [file]) => deleteAll(context, flags, String(file))));
}

/** Adds `idkit admin user import` to the commands of the noun `user`. */
export function addUserImport(admin: CliCommand, run: Runner): void {
  const user = admin.commands.find((command) => command.name() === 'user');
  if (user === undefined) throw new TypeError('idkit admin has no command user');
  withAdminFlags(
    withBulkFlags(
      user
        .command('import')
        .argument('<file>', FILE)
        .description('create the users of a file; users that exist with the same values are unchanged'),
    ),
    { realm: true },
  )
    .option('--update', 'also change users that exist with other values')
    .examples([
      ['idkit admin user import users.csv --realm acme --dry-run', 'shows what would happen to each user'],
      ['idkit admin user import users.jsonl --realm acme', 'one representation of a user per line'],
    ])
    .action(
      run((context, flags, [file]) =>
        runBulk(context, flags, String(file), importUsers({ update: flags['update'] === true })),
      ),
    );
}

async function deleteAll(context: CommandContext, flags: Flags, file: string): Promise<Outcome> {
  const { globals, signal, terminal } = context;
  if (globals.yes || flags['dryRun'] === true) return runBulk(context, flags, file, deleteUsers());
  if (!terminal.canAsk || file === '-')
    throw new IdkitError(
      'IDKIT_USAGE',
      'bulk delete deletes users, and without a terminal it cannot ask for confirmation',
      { hints: ['add --yes to delete them, or --dry-run to see which users would be deleted'] },
    );
  return runBulk(context, flags, file, deleteUsers(), async (lines) => {
    const realm = realmFlag(context, flags);
    const count = lines === undefined ? '' : ` (${renderCount(lines, 'line')})`;
    const question = `Delete the users in ${file}${count} from realm ${realm}?`;
    if (!(await confirm(terminal, question, signal)))
      throw new IdkitError('IDKIT_USAGE', 'the answer was not yes, so nothing was deleted');
  });
}
