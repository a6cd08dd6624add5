import { IdkitError } from '../../../core/index.ts';
import type { CliCommand } from '../../cli-command.ts';
import type { CommandContext, Flags, Outcome, Runner } from '../../command.ts';
import { checkName, given, textFlag } from '../../flags.ts';
import type { Column } from '../../output/lists.ts';
import { withAdminFlags } from './connect.ts';
import { type ApiRecord, apiPath, asRecords } from './lookup.ts';
import { timeText } from './nouns/texts.ts';
import { openPlace, type Place } from './place.ts';
import { askConsent, requireConsent } from './records/consent.ts';
import { limited, readLimit, withListFlags } from './records/paging.ts';
import { responseFault } from './response-fault.ts';

/** Time in milliseconds that the service may need for a record with very many others. */
const LONG = 30 * 60_000;
/** Number of entries of one request. */
const PAGE = 500;
const KINDS = ['user', 'client', 'group'] as const;

const COLUMNS: readonly Column[] = [
  { title: 'KIND', field: 'kind' },
  { title: 'NAME', field: 'name' },
  { title: 'DELETED', field: 'deletedAt', show: timeText, priority: 2 },
  { title: 'KEPT UNTIL', field: 'expiresAt', show: timeText, priority: 3 },
  { title: 'UNFINISHED', field: 'unfinished', priority: 5 },
  { title: 'ID', field: 'id' },
];

/** `idkit admin trash …` */
export function addTrashCommands(admin: CliCommand, run: Runner): void {
  const group = admin
    .command('trash')
    .description('list, restore and erase deleted realms, users, clients and groups')
    .examples([
      ['idkit admin trash list --realm acme', 'prints the deleted users, clients and groups of a realm'],
      ['idkit admin trash list --realms', 'prints the deleted realms'],
      ['idkit admin trash restore alice --realm acme', 'restores a user with credentials, roles and groups'],
    ]);
  withListFlags(
    withTrashFlags(group.command('list').description('list deleted records, the newest first')).option(
      '--search <text>',
      'list only records whose names contain this',
    ),
  )
    .examples([
      ['idkit admin trash list --realm acme --kind user', 'prints the deleted users'],
      ['idkit admin trash list --realms', 'prints the deleted realms'],
    ])
    .action(run(listTrash));
  withTrashFlags(
    group
      .command('restore')
      .argument('<deleted>', 'the name of the deleted record, or the id that list prints')
      .description(
        'restore a deleted record with its id and everything that belonged to it, apart from sessions',
      ),
  )
    .option('--as <name>', 'restore a user, client or group under another name')
    .examples([
      ['idkit admin trash restore alice --realm acme', 'restores the user'],
      ['idkit admin trash restore alice --realm acme --as alice-old', 'if another user has the name now'],
      ['idkit admin trash restore acme --realms', 'restores a whole realm'],
    ])
    .action(run((context, flags, [name]) => restoreTrash(context, flags, name!)));
  withTrashFlags(
    group
      .command('empty')
      .argument('[deleted]', 'the name of the deleted record, or the id that list prints')
      .description('erase one deleted record for good, or all of them'),
  )
    .option('--all', 'erase all deleted records of the realm, or all deleted realms with --realms')
    .examples([
      ['idkit admin trash empty alice --realm acme', 'asks, then erases the user for good'],
      ['idkit admin trash empty --all --realm acme', 'asks, then erases all deleted records of the realm'],
    ])
    .action(run((context, flags, [name]) => emptyTrash(context, flags, name)));
}

function withTrashFlags(command: CliCommand): CliCommand {
  return withAdminFlags(command, { realm: true })
    .option('--realms', 'deleted realms, instead of the deleted records of one realm')
    .option('--kind <kind>', `only records of this kind: ${KINDS.join(', ')}`);
}

/** The bin of a realm, or that of the deleted realms. */
interface Bin {
  place: Place;
  /** The path of the administrative API, with its first segment. */
  path: string;
  query: Readonly<Record<string, string>>;
  /** For example ` of realm acme`. */
  where: string;
  data: ApiRecord;
}

/** @throws IDKIT_USAGE */
async function openBin(context: CommandContext, flags: Flags): Promise<Bin> {
  const kind = textFlag(flags, 'kind');
  const ofRealms = flags['realms'] === true;
  if (kind !== undefined && !(KINDS as readonly string[]).includes(kind))
    throw new IdkitError('IDKIT_USAGE', `--kind ${kind} is not one of ${KINDS.join(', ')}`);
  if (ofRealms && kind !== undefined)
    throw new IdkitError('IDKIT_USAGE', '--realms and --kind exclude each other');
  if (ofRealms && textFlag(flags, 'realm') !== undefined)
    throw new IdkitError('IDKIT_USAGE', '--realms and --realm exclude each other');
  const search = textFlag(flags, 'search');
  const query = { ...given('kind', kind), ...given('search', search) };
  if (ofRealms) {
    const place = await openPlace(context, { ...flags, realm: 'master' });
    return { place, path: '/admin/trash', query, where: '', data: {} };
  }
  const place = await openPlace(context, flags);
  const { realm } = place;
  return {
    place,
    path: `/admin/realms${apiPath(realm, 'trash')}`,
    query,
    where: ` of realm ${realm}`,
    data: { realm },
  };
}

/** Sends a request to the bin. @throws the error of the response */
async function callBin({ place }: Bin, method: string, path: string, body?: ApiRecord): Promise<unknown> {
  const response = await place.admin.request({
    method,
    path,
    timeoutMilliseconds: method === 'GET' ? undefined : LONG,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const fault = await responseFault(response, `${method} ${path}`);
  if (fault?.message.endsWith('under another name.') === true)
    throw new IdkitError(fault.code, fault.message, {
      hints: ['add --as NAME to restore it under that name'],
    });
  if (fault !== undefined) throw fault;
  return response.text === '' ? undefined : JSON.parse(response.text);
}

async function* entriesOf(bin: Bin, limit = Number.POSITIVE_INFINITY): AsyncGenerator<ApiRecord, void, void> {
  for (let first = 0; first < limit; first += PAGE) {
    const max = Math.min(PAGE, limit - first);
    const query = new URLSearchParams({ ...bin.query, first: String(first), max: String(max) });
    const page = asRecords(await callBin(bin, 'GET', `${bin.path}?${query}`), 'deleted records');
    yield* page;
    if (page.length < max) return;
  }
}

async function listTrash(context: CommandContext, flags: Flags): Promise<Outcome> {
  const limit = readLimit(context, flags);
  const bin = await openBin(context, flags);
  const records = entriesOf(bin, limit === undefined ? undefined : limit + 1);
  return {
    data: bin.data,
    list: limited(context, flags, {
      limit,
      list: { noun: 'entries', columns: COLUMNS, name: 'id', records, empty: 'the bin is empty' },
    }),
  };
}

/** Finds an entry by its id, else by the name of its record. @throws IDKIT_NOT_FOUND; IDKIT_USAGE for several */
async function findEntry(bin: Bin, name: string): Promise<ApiRecord> {
  checkName(name, 'the deleted record');
  const named: ApiRecord[] = [];
  for await (const entry of entriesOf(bin)) {
    if (entry['id'] === name) return entry;
    if (entry['name'] === name) named.push(entry);
  }
  const [only, ...others] = named;
  if (only === undefined)
    throw new IdkitError('IDKIT_NOT_FOUND', `the bin${bin.where} has no record ${name}`, {
      hints: ['idkit admin trash list prints the deleted records'],
    });
  if (others.length === 0) return only;
  const ids = named.map((entry) => `${entry['id']} (${entry['kind']}, ${timeText(entry['deletedAt'])})`);
  throw new IdkitError('IDKIT_USAGE', `the bin${bin.where} has ${named.length} records ${name}`, {
    hints: [`name one of them by its id: ${ids.join(', ')}`],
  });
}

async function restoreTrash(context: CommandContext, flags: Flags, name: string): Promise<Outcome> {
  const as = textFlag(flags, 'as');
  if (as !== undefined) checkName(as, '--as');
  const bin = await openBin(context, flags);
  const entry = await findEntry(bin, name);
  const path = `${bin.path}${apiPath(String(entry['id']), 'restore')}`;
  const restored = (await callBin(bin, 'POST', path, given('name', as))) as ApiRecord;
  const dropped = asRecords(restored['dropped'], 'links');
  const lines = dropped.map(
    ({ what, id, name: title }) => `left out: the ${what} ${title ?? id}, which does not exist any more`,
  );
  const text = [`restored ${entry['kind']} ${as ?? entry['name']}${bin.where}`, ...lines].join('\n');
  return { data: { ...bin.data, ...restored, name: as ?? entry['name'] }, text };
}

async function emptyTrash(context: CommandContext, flags: Flags, name: string | undefined): Promise<Outcome> {
  const all = flags['all'] === true;
  if (all === (name !== undefined))
    throw new IdkitError('IDKIT_USAGE', 'empty needs either a name or --all', {
      hints: ['idkit admin trash list prints the deleted records'],
    });
  requireConsent(context, all ? 'erase all deleted records' : `erase ${name}`);
  const bin = await openBin(context, flags);
  const entries: ApiRecord[] = [];
  if (name !== undefined) entries.push(await findEntry(bin, name));
  else for await (const entry of entriesOf(bin)) entries.push(entry);
  const what =
    name === undefined
      ? `${entries.length} deleted records`
      : `${entries[0]!['kind']} ${entries[0]!['name']}`;
  if (entries.length > 0) await askConsent(context, `Erase ${what}${bin.where} for good?`);
  for (const entry of entries) await callBin(bin, 'DELETE', `${bin.path}${apiPath(String(entry['id']))}`);
  return {
    data: { ...bin.data, erased: entries.map(({ id, kind, name: title }) => ({ id, kind, name: title })) },
    text: `erased ${what}${bin.where}`,
  };
}
