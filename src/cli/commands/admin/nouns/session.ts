import { IdkitError } from '../../../../core/index.ts';
import type { CommandContext, Flags, Outcome } from '../../../command.ts';
import { checkName, textFlag } from '../../../flags.ts';
import { withAdminFlags } from '../connect.ts';
import { type ApiRecord, apiPath } from '../lookup.ts';
import { inRealm, openPlace, type Place } from '../place.ts';
import { findClient, findUser, missing, readAll } from '../records/find.ts';
import type { Noun } from '../records/noun.ts';
import { readPages } from '../records/paging.ts';
import { timeText } from './texts.ts';

/** `idkit admin session …` */
export const SESSION: Noun = {
  command: 'session',
  description: 'manage the user sessions of a realm',
  word: 'session',
  field: 'session',
  plural: 'sessions',
  argument: { name: 'session', description: 'the id of the session', what: 'the id of the session' },
  inRealm: true,
  name: 'id',
  columns: [
    { title: 'SESSION', field: 'id' },
    { title: 'USERNAME', field: 'username' },
    { title: 'ADDRESS', field: 'ipAddress', priority: 3 },
    { title: 'STARTED', field: 'start', show: timeText, priority: 4 },
    { title: 'LAST USE', field: 'lastAccess', show: timeText, priority: 2 },
    {
      title: 'CLIENTS',
      field: 'clients',
      show: (clients) => Object.values((clients as ApiRecord | undefined) ?? {}).join(' '),
      priority: 5,
    },
  ],
  shown: [],
  collection: (place) => inRealm(place, 'sessions'),
  item: (place, { id }) => inRealm(place, 'sessions', String(id)),
  find: async (place, id) => {
    for await (const session of allSessions(place)) if (session['id'] === id) return session;
    throw missing(place, 'session', id);
  },
  list: {
    description: 'list the sessions of all users, of one user or of one client',
    fallsBackToMaster: true,
    flags: (command) =>
      command
        .option('--username <name>', 'list only the sessions of this user')
        .option('--client <client-id>', 'list only the sessions of this client')
        .option('--offline', 'list the offline sessions of --client'),
    query: (flags) => {
      const [username, client] = [textFlag(flags, 'username'), textFlag(flags, 'client')];
      if (username !== undefined) checkName(username, '--username');
      if (username !== undefined && client !== undefined)
        throw new IdkitError('IDKIT_USAGE', '--username and --client exclude each other');
      if (flags['offline'] === true && client === undefined)
        throw new IdkitError('IDKIT_USAGE', '--offline needs --client');
      return {};
    },
    records: listSessions,
    examples: [
      ['idkit admin session list --realm acme --username alice', 'the sessions of one user'],
      ['idkit admin session list --realm acme --client web --all', 'the sessions of one client'],
    ],
  },
  verbs(group, run) {
    withAdminFlags(
      group
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
  },
};

async function* listSessions(
  place: Place,
  flags: Flags,
  limit: number | undefined,
): AsyncGenerator<ApiRecord, void, void> {
  const username = textFlag(flags, 'username');
  const clientId = textFlag(flags, 'client');
  if (username !== undefined) {
    const { id } = await findUser(place, username);
    yield* await readAll(place, inRealm(place, 'users', String(id), 'sessions'), 'sessions');
  } else if (clientId !== undefined) {
    const { id } = await findClient(place, clientId);
    const kind = flags['offline'] === true ? 'offline-sessions' : 'user-sessions';
    yield* sessionsOfClient(place, { id, kind, limit });
  } else yield* allSessions(place, limit);
}

/**
 * Lists the sessions of all users. Neither idkit nor Keycloak 26 has such a list, so this reads the sessions of each
 * client that has any, and shows a session of several clients once.
 */
async function* allSessions(place: Place, limit?: number): AsyncGenerator<ApiRecord, void, void> {
  const clients = await readAll(place, inRealm(place, 'client-session-stats'), 'clients');
  const active = clients.filter((client) => Number(client['active']) > 0);
  const shown = new Set<unknown>();
  for (const { id } of active) {
    for await (const session of sessionsOfClient(place, { id, kind: 'user-sessions', limit })) {
      if (active.length > 1 && shown.has(session['id'])) continue;
      shown.add(session['id']);
      yield session;
    }
  }
}

function sessionsOfClient(
  { admin, ...place }: Place,
  { id, kind, limit }: { id: unknown; kind: string; limit: number | undefined },
): AsyncIterable<ApiRecord> {
  const path = apiPath(place.realm, 'clients', String(id), kind);
  return readPages(admin, path, limit === undefined ? {} : { limit });
}

async function revokeSession(
  context: CommandContext,
  flags: Flags,
  id: string | undefined,
): Promise<Outcome> {
  const username = textFlag(flags, 'username');
  if ((id === undefined) === (username === undefined)) {
    throw new IdkitError('IDKIT_USAGE', 'revoke needs either a session id or --username');
  }
  if (username !== undefined) checkName(username, '--username');
  if (id !== undefined) checkName(id, 'the id of the session');
  const place = await openPlace(context, flags, { fallback: 'master' });
  const { admin, realm } = place;
  if (id !== undefined) {
    await admin.call('DELETE', inRealm(place, 'sessions', id));
    return { data: { realm, session: id }, text: `ended session ${id}` };
  }
  const user = await findUser(place, username!);
  await admin.call('POST', inRealm(place, 'users', String(user['id']), 'logout'));
  return { data: { realm, username }, text: `ended all sessions of ${username}` };
}
