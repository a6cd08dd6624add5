import { IdkitError } from '../../../../core/index.ts';
import { type ApiRecord, apiPath, asRecords } from '../lookup.ts';
import { inRealm, type Place } from '../place.ts';

/** An id of idkit and of Keycloak. */
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** The error for a record that does not exist. */
export function missing(place: Place, what: string, name: string): IdkitError {
  return new IdkitError('IDKIT_NOT_FOUND', `realm ${place.realm} has no ${what} ${name}`);
}

/** Reads one record. @throws IDKIT_FAILED if the response is not a record */
export async function read(place: Place, path: string): Promise<ApiRecord> {
  const { body } = await place.admin.call('GET', path);
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body as ApiRecord;
  throw new IdkitError('IDKIT_FAILED', 'the response of the service is not a record');
}

/** Reads all records of a small collection. @throws IDKIT_FAILED if the response is not a list */
export async function readAll(place: Place, path: string, what: string): Promise<readonly ApiRecord[]> {
  const { body } = await place.admin.call('GET', path);
  return asRecords(body, what);
}

/** Finds a record in a small collection by one of its fields, else by its id. @throws IDKIT_NOT_FOUND */
export async function findIn(
  place: Place,
  path: string,
  { name, field, word }: { name: string; field: string; word: string },
): Promise<ApiRecord> {
  const records = await readAll(place, path, `${word}s`);
  const found =
    records.find((record) => record[field] === name) ?? records.find((record) => record['id'] === name);
  if (found !== undefined) return found;
  throw missing(place, word, name);
}

/**
 * Finds a user by the username, else by the email address, else by the id.
 *
 * @throws IDKIT_NOT_FOUND; IDKIT_USAGE if several users have the email address
 */
export async function findUser(place: Place, name: string): Promise<ApiRecord> {
  const [found] = await usersWith(place, 'username', name);
  if (found !== undefined) return found;
  if (name.includes('@')) {
    const owners = await usersWith(place, 'email', name);
    if (owners.length > 1) {
      throw new IdkitError(
        'IDKIT_USAGE',
        `${owners.length} users of realm ${place.realm} have the email address ${name}`,
        {
          hints: [`name one of them: ${owners.map(({ username }) => username).join(', ')}`],
        },
      );
    }
    if (owners[0] !== undefined) return owners[0];
  }
  return await byId(place, ['users', name], { what: 'user', name });
}

/** Returns the users with exactly this username or email address. Neither depends on the case of letters. */
async function usersWith(
  place: Place,
  field: 'username' | 'email',
  value: string,
): Promise<readonly ApiRecord[]> {
  const query = new URLSearchParams({ [field]: value, exact: 'true' });
  const users = await readAll(place, `${inRealm(place, 'users')}?${query}`, 'users');
  return users.filter((user) => String(user[field]).toLowerCase() === value.toLowerCase());
}

/** Finds a client by its client id, else by its id. @throws IDKIT_NOT_FOUND */
export async function findClient(place: Place, name: string): Promise<ApiRecord> {
  const query = new URLSearchParams({ clientId: name });
  const clients = await readAll(place, `${inRealm(place, 'clients')}?${query}`, 'clients');
  const found = clients.find((client) => client['clientId'] === name);
  if (found !== undefined) return found;
  return await byId(place, ['clients', name], { what: 'client', name });
}

/** Finds a group by its path, for example `/staff/berlin`, else by its id. @throws IDKIT_NOT_FOUND */
export async function findGroup(place: Place, name: string): Promise<ApiRecord> {
  if (UUID.test(name)) return await byId(place, ['groups', name], { what: 'group', name });
  const segments = name.replace(/^\//, '').split('/');
  return await orMissing(place, inRealm(place, 'group-by-path', ...segments), { what: 'group', name });
}

/** Finds a realm role, or a role of `place.client`, by its name. @throws IDKIT_NOT_FOUND */
export async function findRole(place: Place, name: string): Promise<ApiRecord> {
  const what = place.client === undefined ? 'role' : `role of the client ${place.client['clientId']}:`;
  return await orMissing(place, `${rolesPath(place)}${apiPath(name)}`, { what, name });
}

/** Returns the path of the realm roles, or of the roles of `place.client`. */
export function rolesPath(place: Place): string {
  const { client } = place;
  return client === undefined
    ? inRealm(place, 'roles')
    : inRealm(place, 'clients', String(client['id']), 'roles');
}

async function byId(
  place: Place,
  segments: readonly string[],
  error: { what: string; name: string },
): Promise<ApiRecord> {
  if (!UUID.test(error.name)) throw missing(place, error.what, error.name);
  return await orMissing(place, inRealm(place, ...segments), error);
}

/** Reads a record, and names it in the error if it does not exist. */
async function orMissing(
  place: Place,
  path: string,
  { what, name }: { what: string; name: string },
): Promise<ApiRecord> {
  try {
    return await read(place, path);
  } catch (error) {
    if (error instanceof IdkitError && error.code === 'IDKIT_NOT_FOUND') throw missing(place, what, name);
    throw error;
  }
}
