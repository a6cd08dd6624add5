import { IdkitError } from '../../../../core/index.ts';
import type { CliCommand } from '../../../cli-command.ts';
import type { CommandContext, Flags, Outcome, Runner } from '../../../command.ts';
import { textFlag } from '../../../flags.ts';
import type { Column } from '../../../output/lists.ts';
import { withAdminFlags } from '../connect.ts';
import type { ApiRecord } from '../lookup.ts';
import { inRealm, openPlace, type Place } from '../place.ts';
import { askConsent, requireConsent } from '../records/consent.ts';
import { findUser } from '../records/find.ts';
import { limited, readLimit, readPages, withListFlags } from '../records/paging.ts';
import { timeText } from './texts.ts';

/** The two kinds of events: of users, and of changes by administrators. */
interface Kind {
  command: 'user' | 'admin';
  description: string;
  path: string;
  columns: readonly Column[];
  flags(command: CliCommand): CliCommand;
  query(place: Place, flags: Flags): Promise<readonly (readonly [name: string, value: string])[]>;
  example: string;
}

const KINDS: readonly Kind[] = [
  {
    command: 'user',
    description: 'list the logins, refreshes and other events of users, newest first',
    path: 'events',
    columns: [
      { title: 'TIME', field: 'time', show: timeText },
      { title: 'TYPE', field: 'type' },
      { title: 'USER', field: 'userId', show: userOf, priority: 2 },
      { title: 'CLIENT', field: 'clientId', priority: 3 },
      { title: 'ADDRESS', field: 'ipAddress', priority: 4 },
      { title: 'ERROR', field: 'error', priority: 2 },
    ],
    flags: (command) =>
      command
        .option('--type <type...>', 'list only these types, for example LOGIN_ERROR')
        .option('--username <name>', 'list only the events of this user')
        .option('--client <client-id>', 'list only the events of this client')
        .option('--address <ip>', 'list only the events of this IP address'),
    query: async (place, flags) => {
      const username = textFlag(flags, 'username');
      const user = username === undefined ? undefined : await findUser(place, username);
      return [
        ...many('type', flags['type']),
        ...one('user', user === undefined ? undefined : String(user['id'])),
        ...one('client', textFlag(flags, 'client')),
        ...one('ipAddress', textFlag(flags, 'address')),
      ];
    },
    example: '--type LOGIN LOGIN_ERROR --username alice',
  },
  {
    command: 'admin',
    description: 'list the changes by administrators, newest first',
    path: 'admin-events',
    columns: [
      { title: 'TIME', field: 'time', show: timeText },
      { title: 'OPERATION', field: 'operationType' },
      { title: 'RESOURCE', field: 'resourceType', priority: 3 },
      { title: 'PATH', field: 'resourcePath' },
      { title: 'ID', field: 'id', priority: 2 },
      { title: 'ADMINISTRATOR', field: 'authDetails.userId', priority: 4 },
      { title: 'ADDRESS', field: 'authDetails.ipAddress', priority: 5 },
      { title: 'ERROR', field: 'error', priority: 2 },
    ],
    flags: (command) =>
      command
        .option('--operation <type...>', 'list only CREATE, UPDATE, DELETE or ACTION')
        .option('--resource <type...>', 'list only changes of these kinds of records, for example USER')
        .option('--path <path>', 'list only changes of this path; * matches any text'),
    query: async (_, flags) => [
      ...many('operationTypes', flags['operation']),
      ...many('resourceTypes', flags['resource']),
      ...one('resourcePath', textFlag(flags, 'path')),
    ],
    example: '--operation DELETE --resource USER',
  },
];

/** `idkit admin event list|clear user|admin` */
export function addEventCommands(admin: CliCommand, run: Runner): void {
  const group = admin
    .command('event')
    .description('list and delete the stored events of a realm')
    .examples([['idkit admin event list user --realm acme --type LOGIN_ERROR', 'prints failed logins']]);
  const list = group
    .command('list')
    .description('list the events of users or of administrators, newest first')
    .examples([['idkit admin event list user --realm acme', 'prints logins and other events of users']]);
  for (const kind of KINDS) {
    const command = withAdminFlags(list.command(kind.command).description(kind.description), { realm: true });
    withListFlags(kind.flags(command))
      .option('--from <date>', 'list only events since this date or time, for example 2026-11-22')
      .option('--to <date>', 'list only events until this date or time')
      .examples([[`idkit admin event list ${kind.command} --realm acme ${kind.example}`, kind.description]])
      .action(run((context, flags) => listEvents(context, flags, kind)));
  }
  const clear = group
    .command('clear')
    .description('delete all stored events')
    .examples([['idkit admin event clear user --realm acme', 'asks, then deletes the events of users']]);
  for (const { command, path } of KINDS) {
    withAdminFlags(
      clear
        .command(command)
        .description(`delete all stored events of ${command === 'user' ? 'users' : 'administrators'}`),
      { realm: true },
    )
      .examples([[`idkit admin event clear ${command} --realm acme`, 'asks, then deletes them']])
      .action(run((context, flags) => clearEvents(context, flags, path)));
  }
}

async function listEvents(context: CommandContext, flags: Flags, kind: Kind): Promise<Outcome> {
  const limit = readLimit(context, flags);
  const times = [...time('dateFrom', '--from', flags['from']), ...time('dateTo', '--to', flags['to'])];
  const place = await openPlace(context, flags);
  const query = [...(await kind.query(place, flags)), ...times];
  const records = readPages(place.admin, inRealm(place, kind.path), {
    query,
    ...(limit === undefined ? {} : { limit: limit + 1 }),
  });
  return {
    data: { realm: place.realm },
    list: limited(context, flags, {
      limit,
      list: { noun: 'events', columns: kind.columns, name: 'id', records },
    }),
  };
}

async function clearEvents(context: CommandContext, flags: Flags, path: string): Promise<Outcome> {
  requireConsent(context, 'delete all events');
  const place = await openPlace(context, flags);
  await askConsent(context, `Delete all ${path.replace('-', ' ')} of realm ${place.realm}?`);
  await place.admin.call('DELETE', inRealm(place, path));
  return {
    data: { realm: place.realm },
    text: `deleted the ${path.replace('-', ' ')} of realm ${place.realm}`,
  };
}

/** A deleted user has no name any more, but the event may contain it. */
function userOf(id: unknown, { details }: ApiRecord): unknown {
  return (details as ApiRecord | undefined)?.['username'] ?? id;
}

function one(name: string, value: string | undefined): readonly (readonly [string, string])[] {
  return value === undefined ? [] : [[name, value]];
}

function many(name: string, values: unknown): readonly (readonly [string, string])[] {
  return ((values as string[] | undefined) ?? []).map((value) => [name, value.toUpperCase()] as const);
}

/** Keycloak 26 accepts a date or a Unix time in milliseconds. @throws IDKIT_USAGE */
function time(name: string, flag: string, value: unknown): readonly (readonly [string, string])[] {
  if (typeof value !== 'string') return [];
  if (/^\d{4}-\d{2}-\d{2}$/.test(value)) return [[name, value]];
  const at = Date.parse(value);
  if (/^\d{4}-\d{2}-\d{2}T/.test(value) && !Number.isNaN(at)) return [[name, String(at)]];
  throw new IdkitError(
    'IDKIT_USAGE',
    `${flag} must be a date such as 2026-11-22 or a time such as 2026-11-22T10:15:00Z, not ${JSON.stringify(value)}`,
  );
}
