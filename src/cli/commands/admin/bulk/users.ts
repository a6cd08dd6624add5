import { IdkitError, isJsonObject, nearestName } from '../../../../core/index.ts';
import { type ApiRecord, apiPath, asRecords } from '../lookup.ts';
import { type BulkCalls, LineFault } from './calls.ts';
import type { BulkWork, Change } from './run-bulk.ts';

type Fields = Readonly<Record<string, unknown>>;

const nameOf = (fields: Fields): string => String(fields['username'] ?? fields['id'] ?? '');

/** Checks that the header of a file names its users. Other columns are ignored, so that any export can be used. */
function checkNames(columns: readonly string[]): void {
  if (columns.includes('username') || columns.includes('id')) return;
  throw new IdkitError(
    'IDKIT_USAGE',
    `the file has no column username or id; its first line is ${columns.join(', ')}`,
    { hints: ['the first line of a CSV file contains the names of the columns'] },
  );
}

/** Work on users that exist. A missing user fails, except if `absent` is set. */
function onUsers(
  title: string,
  apply: (user: ApiRecord, options: { calls: BulkCalls; dryRun: boolean }) => Promise<{ result: Change }>,
  more: { prepare?: (calls: BulkCalls) => Promise<void>; absent?: Change } = {},
): BulkWork {
  return {
    title,
    checkColumns: checkNames,
    userOf: nameOf,
    ...(more.prepare === undefined ? {} : { prepare: more.prepare }),
    async apply(fields, options) {
      const user = await options.calls.findUser(fields);
      if (user !== undefined) return apply(user, options);
      if (more.absent !== undefined)
        return { result: more.absent, detail: 'the realm does not have this user' };
      throw new LineFault(`realm ${options.calls.realm} has no user ${nameOf(fields)}`);
    },
  };
}

const pathOf = (user: ApiRecord): string => apiPath('users', String(user['id']));

/** Enables or disables the users of a file. */
export function setEnabled(enabled: boolean): BulkWork {
  return onUsers(enabled ? 'Enable the users' : 'Disable the users', async (user, { calls, dryRun }) => {
    if (user['enabled'] === enabled) return { result: 'unchanged' };
    // Keycloak 26 removes attributes that a representation omits, so send the whole one.
    if (!dryRun) await calls.send('PUT', pathOf(user), { ...user, enabled });
    return { result: enabled ? 'enabled' : 'disabled' };
  });
}

/** Deletes the users of a file. */
export function deleteUsers(): BulkWork {
  return onUsers(
    'Delete the users',
    async (user, { calls, dryRun }) => {
      if (!dryRun) await calls.send('DELETE', pathOf(user));
      return { result: 'deleted' };
    },
    { absent: 'unchanged' },
  );
}

/** Adds or removes a role of the realm, or of a client, as a direct role of the users of a file. */
export function changeRole(
  change: 'add' | 'remove',
  { client, role }: { role: string; client: string | undefined },
): BulkWork {
  let found: ApiRecord = {};
  let mappings = '/role-mappings/realm';
  return onUsers(
    change === 'add' ? 'Add the role to the users' : 'Remove the role from the users',
    async (user, { calls, dryRun }) => {
      const path = `${pathOf(user)}${mappings}`;
      const held = asRecords(await calls.send('GET', path), 'roles').some(({ id }) => id === found['id']);
      if (held === (change === 'add')) return { result: 'unchanged' };
      if (!dryRun) await calls.send(change === 'add' ? 'POST' : 'DELETE', path, [found]);
      return { result: change === 'add' ? 'added' : 'removed' };
    },
    {
      async prepare(calls) {
        let owner = '';
        if (client !== undefined) {
          const query = new URLSearchParams({ clientId: client });
          const [one] = asRecords(await once(calls.send('GET', `/clients?${query}`)), 'clients');
          if (one === undefined) throw missing(`realm ${calls.realm} has no client ${client}`);
          owner = apiPath('clients', String(one['id']));
          mappings = `/role-mappings${owner}`;
        }
        const record = await once(calls.find(`${owner}${apiPath('roles', role)}`));
        const place = client === undefined ? `realm ${calls.realm}` : `client ${client}`;
        if (!isJsonObject(record)) throw missing(`${place} has no role ${role}`);
        found = { id: record['id'], name: record['name'] };
      },
    },
  );
}

/** Adds the users of a file to a group, or removes them from it. @param path for example `/sales/berlin` */
export function changeGroup(change: 'add' | 'remove', path: string): BulkWork {
  let group = '';
  return onUsers(
    change === 'add' ? 'Add the users to the group' : 'Remove the users from the group',
    async (user, { calls, dryRun }) => {
      const groups = asRecords(await calls.send('GET', `${pathOf(user)}/groups`), 'groups');
      if (groups.some(({ id }) => id === group) === (change === 'add')) return { result: 'unchanged' };
      const membership = `${pathOf(user)}${apiPath('groups', group)}`;
      if (!dryRun) await calls.send(change === 'add' ? 'PUT' : 'DELETE', membership);
      return { result: change === 'add' ? 'added' : 'removed' };
    },
    {
      async prepare(calls) {
        const segments = path.split('/').filter((segment) => segment !== '');
        const record = await once(calls.find(apiPath('group-by-path', ...segments)));
        if (!isJsonObject(record)) throw missing(`realm ${calls.realm} has no group /${segments.join('/')}`);
        group = String(record['id']);
      },
    },
  );
}

/** Converts the failure of a request that is not for one record. */
async function once<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof LineFault
      ? new IdkitError('IDKIT_FAILED', error.message, { cause: error })
      : error;
  }
}

function missing(message: string): IdkitError {
  return new IdkitError('IDKIT_NOT_FOUND', message);
}

/** Columns that become fields of a user, by their kind. */
const COLUMNS: Readonly<Record<string, 'text' | 'boolean' | 'list' | 'json'>> = {
  username: 'text',
  email: 'text',
  firstName: 'text',
  lastName: 'text',
  enabled: 'boolean',
  emailVerified: 'boolean',
  groups: 'list',
  requiredActions: 'list',
  credentials: 'json',
};
const ATTRIBUTE = 'attributes.';
/** Fields that only a new user gets. An existing user keeps its own. */
const ONLY_NEW = ['credentials', 'groups', 'requiredActions'];
/** Fields that the service would silently ignore. */
const NOT_APPLIED: Readonly<Record<string, string>> = {
  realmRoles: 'assign roles with `idkit admin bulk add-role`',
  clientRoles: 'assign roles with `idkit admin bulk add-role --client CLIENT`',
};

/** Creates the users of a file. With `update`, also changes users that exist with other values. */
export function importUsers({ update }: { update: boolean }): BulkWork {
  return {
    title: 'Import the users',
    checkColumns: checkUserColumns,
    userOf: nameOf,
    async apply(fields, { calls, dryRun }) {
      const wanted = userOf(fields);
      const existing = await calls.findUser({ username: wanted['username'] });
      if (existing === undefined) {
        if (!dryRun) await calls.send('POST', '/users', { enabled: true, ...wanted });
        return { result: 'created' };
      }
      const differing = differences(existing, wanted);
      if (differing.length === 0) return { result: 'unchanged' };
      const names = differing.join(', ');
      if (!update)
        throw new LineFault(`the user exists with another ${names}; --update changes existing users`);
      if (!dryRun) await calls.send('PUT', pathOf(existing), merge(existing, wanted));
      return { result: 'updated', detail: names };
    },
  };
}

function checkUserColumns(columns: readonly string[]): void {
  for (const column of columns) {
    if (Object.hasOwn(COLUMNS, column) || (column.startsWith(ATTRIBUTE) && column !== ATTRIBUTE)) continue;
    if (/^passw/i.test(column))
      throw new IdkitError(
        'IDKIT_USAGE',
        `the column ${column} is not allowed, because passwords are credentials`,
        {
          hints: [
            'use a column credentials with JSON: [{"type":"password","value":"…","temporary":true}]',
            'or create users without a password',
          ],
        },
      );
    const near = nearestName(column, Object.keys(COLUMNS));
    throw new IdkitError('IDKIT_USAGE', `the column ${column} is not a field of a user`, {
      hints: [
        near === undefined
          ? `columns are ${Object.keys(COLUMNS).join(', ')} and attributes.NAME`
          : `did you mean ${near}? An attribute of a user is a column attributes.NAME`,
      ],
    });
  }
  if (!columns.includes('username'))
    throw new IdkitError(
      'IDKIT_USAGE',
      `the file has no column username; its first line is ${columns.join(', ')}`,
    );
}

/** Returns the representation of a user. The cells of a CSV file get the types of their columns. */
function userOf(fields: Fields): Fields {
  const user: Record<string, unknown> = {};
  const attributes: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    const advice = Object.hasOwn(NOT_APPLIED, name) ? NOT_APPLIED[name] : undefined;
    if (advice !== undefined) throw new LineFault(`${name} is not applied to a user; ${advice}`);
    if (name.startsWith(ATTRIBUTE))
      attributes[name.slice(ATTRIBUTE.length)] = parseList(value) ?? [String(value)];
    else user[name] = typeof value === 'string' ? parseCell(name, value) : value;
  }
  if (typeof user['username'] !== 'string' || user['username'] === '')
    throw new LineFault('the line has no username');
  checkCredentials(user['credentials']);
  return Object.keys(attributes).length === 0 ? user : { ...user, attributes };
}

/** Checks credentials before the service does, because its error for a wrong type would quote the value. */
function checkCredentials(credentials: unknown): void {
  if (credentials === undefined) return;
  const entries: unknown = Array.isArray(credentials) ? credentials : [undefined];
  for (const entry of entries as readonly unknown[]) {
    if (!isJsonObject(entry) || typeof entry['type'] !== 'string')
      throw new LineFault('credentials must be a list of objects with a type');
    for (const name of ['value', 'secretData', 'credentialData'])
      if (entry[name] !== undefined && typeof entry[name] !== 'string')
        throw new LineFault(`credentials: ${name} must be text`);
  }
}

function parseCell(name: string, text: string): unknown {
  switch (COLUMNS[name]) {
    case 'boolean':
      if (/^(true|yes|1)$/i.test(text)) return true;
      if (/^(false|no|0)$/i.test(text)) return false;
      throw new LineFault(`${name} must be true or false, not ${JSON.stringify(text)}`);
    case 'list':
      return (
        parseList(text) ??
        text
          .split('|')
          .map((entry) => entry.trim())
          .filter((entry) => entry !== '')
      );
    case 'json':
      try {
        return JSON.parse(text);
      } catch {
        // The message of the parser would quote the text, which contains a password.
        throw new LineFault(`${name} is not valid JSON`);
      }
    default:
      return text;
  }
}

/** Returns the texts of a JSON list, which is how `-o csv` writes a list. Returns undefined for every other value. */
function parseList(value: unknown): readonly string[] | undefined {
  let list = value;
  if (typeof value === 'string' && value.startsWith('[')) {
    try {
      list = JSON.parse(value);
    } catch {
      // A text may begin with a bracket.
      return undefined;
    }
  }
  return Array.isArray(list) && list.every((entry) => typeof entry === 'string') ? list : undefined;
}

/** Returns the names of the fields in which an existing user differs. */
function differences(existing: ApiRecord, wanted: Fields): readonly string[] {
  const names: string[] = [];
  for (const [name, value] of Object.entries(wanted)) {
    if (ONLY_NEW.includes(name) || name === 'username' || name === 'id') continue;
    if (name === 'attributes' && isJsonObject(value)) {
      const held = isJsonObject(existing['attributes']) ? existing['attributes'] : {};
      for (const [attribute, entries] of Object.entries(value))
        if (!isSame(listOf(held[attribute]), listOf(entries))) names.push(`${ATTRIBUTE}${attribute}`);
    } else if (
      name === 'email' ? !isSame(lower(existing[name]), lower(value)) : !isSame(existing[name], value)
    )
      names.push(name);
  }
  return names;
}

const listOf = (value: unknown): unknown => (Array.isArray(value) || value === undefined ? value : [value]);
const lower = (value: unknown): unknown => (typeof value === 'string' ? value.toLowerCase() : value);
const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

function merge(existing: ApiRecord, wanted: Fields): Fields {
  const changed = Object.entries(wanted).filter(([name]) => !ONLY_NEW.includes(name) && name !== 'username');
  const attributes = {
    ...(isJsonObject(existing['attributes']) ? existing['attributes'] : {}),
    ...(isJsonObject(wanted['attributes']) ? wanted['attributes'] : {}),
  };
  return { ...existing, ...Object.fromEntries(changed), attributes };
}
