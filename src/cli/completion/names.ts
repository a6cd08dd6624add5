import type { AdminClient } from '../../client/index.ts';
import type { CommandContext } from '../command.ts';
import type { NameKind } from './tree.ts';

/** Maximum number of names of one request. A shell cannot show more. */
const MOST = 100;

export interface FoundName {
  name: string;
  /** A short description, or an empty string. */
  text: string;
}

export interface NameRequest {
  /** The beginning of the name, as far as it was typed. */
  prefix: string;
  /** The words of the command line, beginning with `idkit`. */
  words: readonly string[];
}

/**
 * Prepares to find the names of one kind: backup sets in the backup root, everything else through the administrative
 * API, for which the stored login is used and renewed, but no password. Returns a function that finds the names.
 *
 * @throws IDKIT_CREDENTIALS without a usable login, and the errors of the settings and of the service
 */
export async function openNames(
  context: CommandContext,
  kind: NameKind,
  request: NameRequest,
): Promise<() => Promise<readonly FoundName[]>> {
  if (kind === 'sets') return openSets(context, request);
  const { connectStored } = await import('../commands/admin/connect.ts');
  const connected = await connectStored(context, {
    dir: givenFlag(request.words, '--dir'),
    baseUrl: givenFlag(request.words, '--base-url'),
    profile: givenFlag(request.words, '--profile'),
  });
  if (connected === undefined) return async () => [];
  const { admin } = connected;
  if (kind === 'realms') return () => findRealms(admin);
  if (kind === 'deleted' && request.words.includes('--realms')) return () => findDeletedRealms(admin);
  const realm = givenFlag(request.words, '--realm') ?? (context.env['IDKIT_REALM'] || connected.realm);
  // The command itself would ask for the realm, so names of one realm would mislead.
  if (realm === undefined) return async () => [];
  if (kind === 'deleted') return () => findDeleted(admin, realm);
  return () => findInRealm(admin, kind, realm, request.prefix);
}

async function findRealms(admin: AdminClient): Promise<readonly FoundName[]> {
  const realms = await admin.listRealms();
  return realms.map(({ realm, displayName }) => ({ name: realm, text: textOf(displayName) }));
}

/** The list of the administrative API that contains the names of a kind, and the fields that are shown. */
const LISTS = {
  users: { query: (prefix: string) => ({ search: prefix }), path: 'users', name: 'username', text: 'email' },
  clients: {
    query: (prefix: string) => ({ clientId: prefix, search: 'true' }),
    path: 'clients',
    name: 'clientId',
    text: 'name',
  },
  roles: {
    query: (prefix: string) => ({ search: prefix }),
    path: 'roles',
    name: 'name',
    text: 'description',
  },
  groups: { query: (prefix: string) => ({ search: prefix }), path: 'groups', name: 'name', text: 'path' },
} as const;

async function findDeleted(admin: AdminClient, realm: string): Promise<readonly FoundName[]> {
  const { apiPath } = await import('../commands/admin/lookup.ts');
  const { body } = await admin.call('GET', `${apiPath(realm, 'trash')}?max=${MOST}`);
  return await deletedNames(body);
}

async function findDeletedRealms(admin: AdminClient): Promise<readonly FoundName[]> {
  const { text } = await admin.request({ method: 'GET', path: `/admin/trash?max=${MOST}` });
  return await deletedNames(JSON.parse(text));
}

/** Returns the ids of deleted records, because several of them can have the same name. */
async function deletedNames(body: unknown): Promise<readonly FoundName[]> {
  const { asRecords } = await import('../commands/admin/lookup.ts');
  return asRecords(body, 'deleted records').map((record) => ({
    name: textOf(record['id']),
    text: `${textOf(record['kind'])} ${textOf(record['name'])}`,
  }));
}

async function findInRealm(
  admin: AdminClient,
  kind: keyof typeof LISTS,
  realm: string,
  prefix: string,
): Promise<readonly FoundName[]> {
  const { query, path, name, text } = LISTS[kind];
  const parameters = new URLSearchParams({
    first: '0',
    max: String(MOST),
    briefRepresentation: 'true',
    ...(prefix === '' ? {} : query(prefix)),
  });
  const { apiPath, asRecords } = await import('../commands/admin/lookup.ts');
  const { body } = await admin.call('GET', `${apiPath(realm, path)}?${parameters}`);
  return asRecords(body, path).map((record) => ({ name: textOf(record[name]), text: textOf(record[text]) }));
}

async function openSets(
  { env, cwd, procedure }: CommandContext,
  { words }: NameRequest,
): Promise<() => Promise<readonly FoundName[]>> {
  const { loadSettings } = await import('../../config/index.ts');
  const { LATEST, listBackups } = await import('../../procedures/index.ts');
  const { renderAge, renderBytes } = await import('../output/render-units.ts');
  const settings = await loadSettings({ dir: givenFlag(words, '--dir'), env, cwd });
  const root = givenFlag(words, '--root');
  return async () => {
    const listed = await listBackups(settings, {
      clock: procedure.clock,
      ...(root === undefined ? {} : { root }),
    });
    const sets = listed.sets.toReversed().map(({ name, ageSeconds, bytes, verified }) => ({
      name,
      text: `${renderAge(ageSeconds)} old, ${renderBytes(bytes)}, ${verified?.verdict ?? 'not verified'}`,
    }));
    return sets.length === 0 ? [] : [{ name: LATEST, text: 'the newest good set' }, ...sets];
  };
}

/** Returns the value of a flag in a command line, or undefined. The last one counts. */
function givenFlag(words: readonly string[], flag: string): string | undefined {
  let value: string | undefined;
  for (const [index, word] of words.entries()) {
    if (word === '--') break;
    if (word === flag && index + 1 < words.length) value = words[index + 1];
    else if (word.startsWith(`${flag}=`)) value = word.slice(flag.length + 1);
  }
  return value === '' ? undefined : value;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
