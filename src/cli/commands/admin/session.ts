import type { AdminClient } from '../../../client/index.ts';
import { IdkitError } from '../../../core/index.ts';
import type { CliCommand } from '../../cli-command.ts';
import type { CommandContext, Flags, Outcome, Runner } from '../../command.ts';
import { checkName, textFlag } from '../../flags.ts';
import { renderTable } from '../../output/render-table.ts';
import { connect, realmFlag, withAdminFlags } from './connect.ts';
import { type ApiRecord, apiPath, asRecords, getUser, listUsers } from './lookup.ts';

/** `idkit admin session list|revoke` */
export function addSessionCommands(admin: CliCommand, run: Runner): void {
  const session = admin
    .command('session')
    .description('manage the user sessions of a realm')
    .examples([['idkit admin session list --realm acme --username alice', 'the sessions of one user']]);
  withAdminFlags(session.command('list').description('list the sessions of all users or of one user'), {
    realm: true,
  })
    .option('--username <name>', 'list only the sessions of this user')
    .examples([['idkit admin session list --realm acme --username alice', 'the sessions of one user']])
    .action(run(listSessions));
  withAdminFlags(
    session
      .command('revoke')
      .argument('[session]', 'the id of the session')
      .description('end one session, or all sessions of a user'),
    { realm: true },
  )
    .option('--username <name>', 'end all sessions of this user')
    .examples([
      ['idkit admin session revoke --realm acme 0d0c3a1e-…', 'ends one session'],
      ['idkit admin session revoke --realm acme --username alice', 'ends all sessions of a user'],
    ])
    .action(run((context, flags, [id]) => revokeSession(context, flags, id)));
}

async function listSessions(context: CommandContext, flags: Flags): Promise<Outcome> {
  const realm = realmFlag(flags);
  const username = textFlag(flags, 'username');
  if (username !== undefined) checkName(username, '--username');
  const { admin } = await connect(context, flags);
  const users =
    username === undefined ? await listUsers(admin, realm) : [await getUser(admin, realm, username)];
  const sessions: ApiRecord[] = [];
  for (const user of users) sessions.push(...(await sessionsOf(admin, realm, user)));
  return {
    data: { realm, sessions },
    text: renderTable(
      ['SESSION', 'USERNAME', 'ADDRESS', 'STARTED', 'LAST USE'],
      sessions.map((found) => [
        found['id'],
        found['username'],
        found['ipAddress'],
        renderTime(found['start']),
        renderTime(found['lastAccess']),
      ]),
    ),
  };
}

async function sessionsOf(admin: AdminClient, realm: string, user: ApiRecord): Promise<readonly ApiRecord[]> {
  const { body } = await admin.call('GET', apiPath(realm, 'users', String(user['id']), 'sessions'));
  return asRecords(body, 'sessions');
}

/** @param value Unix time in milliseconds, or nothing */
function renderTime(value: unknown): string {
  return typeof value === 'number' ? `${new Date(value).toISOString().slice(0, 19)}Z` : '';
}

async function revokeSession(
  context: CommandContext,
  flags: Flags,
  id: string | undefined,
): Promise<Outcome> {
  const realm = realmFlag(flags);
  const username = textFlag(flags, 'username');
  if ((id === undefined) === (username === undefined)) {
    throw new IdkitError('IDKIT_USAGE', 'revoke needs either a session id or --username');
  }
  if (username !== undefined) checkName(username, '--username');
  if (id !== undefined) checkName(id, 'the id of the session');
  const { admin } = await connect(context, flags);
  if (id !== undefined) {
    await admin.call('DELETE', apiPath(realm, 'sessions', id));
    return { data: { realm, session: id }, text: `ended session ${id}` };
  }
  const user = await getUser(admin, realm, username!);
  await admin.call('POST', apiPath(realm, 'users', String(user['id']), 'logout'));
  return { data: { realm, username }, text: `ended all sessions of ${username}` };
}
