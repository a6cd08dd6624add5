import { createHash } from 'node:crypto';
import { IdkitError, isJsonObject } from '../../core/index.ts';
import type { Json } from '../representation/json.ts';
import { type Environment, resolvePlaceholders } from './placeholders.ts';

/** The import directory. The service supplies it, because administration does no I/O itself. */
export interface RealmDirectory {
  /** Returns the path of a file of this directory, for messages. */
  pathOf(name: string): string;
  /**
   * Lists all files except hidden ones and those that were imported before. Sorts `users-2` before `users-10`.
   *
   * @throws IDKIT_IMPORT
   */
  list(): Promise<readonly { name: string; isDirectory: boolean }[]>;
  /** Reads a regular file. Follows a symbolic link. @throws IDKIT_IMPORT */
  read(name: string): Promise<Uint8Array>;
  /** Moves or removes an imported file. Logs a failure instead of throwing it. */
  putAway(name: string): Promise<void>;
}

/** A realm of the import directory, read from one file or from several. */
export interface RealmFiles {
  realm: string;
  /** File names in the directory. The first file contains the realm, the others contain its users. */
  files: readonly string[];
  representation: Json;
  /** Returns the path of the file that contains a JSON path of `representation`. */
  fileOf(path: string): string;
  /**
   * Digest of the realm name and the bytes of its files. The store records it, so that no start imports the same files
   * twice.
   */
  fingerprint: string;
}

interface ReadFile {
  name: string;
  value: unknown;
  digest: string;
}

/** A file of `kc export --dir` with users of a realm. */
interface UsersFile extends ReadFile {
  realm: string;
  users: unknown;
}

/** File names that `kc export --dir` uses for the users of a realm. */
const USERS_FILE = /-users-\d+\.json$/;
const FEDERATED_FILE = /-federated-users-\d+\.json$/;

/**
 * Reads the import directory as Keycloak's `kc import --dir` does: `R-realm.json` with its users in `R-users-0.json`
 * and so on. Any other `*.json` file contains one realm or a list of realms (`kc export --file`).
 *
 * @throws IDKIT_IMPORT that names the file if it is not a realm file, if no file contains the realm of its users, or if
 *   two files contain the same realm
 */
export async function readRealmFiles(
  directory: RealmDirectory,
  environment: Environment,
): Promise<readonly RealmFiles[]> {
  const entries = await directory.list();
  for (const { name, isDirectory } of entries) {
    if (isDirectory)
      throw unused(directory, name, 'it is a directory', ['move its files into import/ itself']);
    if (!name.endsWith('.json')) throw unused(directory, name, 'its name does not end in .json');
  }
  const files: ReadFile[] = [];
  for (const { name } of entries) files.push(await readOne(directory, name, environment));
  const users = files.flatMap((file) => asUsersFile(file) ?? []);
  const usersNames = new Set(users.map(({ name }) => name));
  const realms = files
    .filter(({ name }) => !usersNames.has(name))
    .flatMap((file) => realmsOf(directory, file).map((representation) => ({ file, representation })));
  checkUnique(directory, realms);
  const names = new Set(realms.map(({ representation }) => representation['realm']));
  for (const { name, realm } of users)
    if (!names.has(realm))
      throw unused(
        directory,
        name,
        `it contains users of realm ${realm}, but no file contains the realm itself`,
        [`put ${realm}-realm.json next to it; kc export --dir writes both`],
      );
  return realms.map(({ file, representation }) => {
    const own = users.filter(({ realm }) => realm === representation['realm']);
    return joinFiles(directory, file, representation, own);
  });
}

async function readOne(directory: RealmDirectory, name: string, environment: Environment): Promise<ReadFile> {
  const file = directory.pathOf(name);
  const bytes = await directory.read(name);
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new IdkitError('IDKIT_IMPORT', `${file} is not UTF-8 text`);
  }
  const digest = createHash('sha256').update(bytes).digest('hex');
  try {
    return { name, value: resolvePlaceholders(parseRealmFile(text, file), environment), digest };
  } catch (error) {
    if (!(error instanceof IdkitError) || error.message.startsWith(file)) throw error;
    throw new IdkitError(error.code, `${file}: ${error.message}`, { cause: error, hints: error.hints });
  }
}

/**
 * Parses the JSON text of a realm file. `importRealm` checks the value.
 *
 * @throws IDKIT_IMPORT that names the file
 */
export function parseRealmFile(content: string, source: string): unknown {
  try {
    return JSON.parse(content.replace(/^\uFEFF/, ''));
  } catch (error) {
    throw new IdkitError('IDKIT_IMPORT', `${source}: the file is not JSON text${placeOf(error)}`, {
      hints: [
        `python3 -m json.tool '${source}' shows where the error is`,
        'correct the file, or remove it from import/, and start again',
      ],
    });
  }
}

/**
 * Returns the position at which the parser stopped. Omits the text that the parser quotes, because a realm file
 * contains secrets.
 */
function placeOf(error: unknown): string {
  const message = error instanceof Error ? error.message : '';
  if (message.includes('end of JSON input')) return ': it ends too early';
  const place = /at position \d+(?: \(line \d+ column \d+\))?/.exec(message)?.[0];
  return place === undefined ? '' : ` ${place}`;
}

function asUsersFile(file: ReadFile): UsersFile | undefined {
  const { name, value } = file;
  if (!USERS_FILE.test(name) || !isJsonObject(value) || typeof value['realm'] !== 'string') return undefined;
  if (!Object.keys(value).every((field) => field === 'realm' || field === 'users')) return undefined;
  return { ...file, realm: value['realm'], users: value['users'] };
}

/** Returns the realms of a file. A malformed realm is rejected later, by the import. */
function realmsOf(directory: RealmDirectory, { name, value }: ReadFile): readonly Json[] {
  if (FEDERATED_FILE.test(name) && isJsonObject(value) && 'federatedUsers' in value)
    throw unused(directory, name, 'it contains users of a user federation, which idkit does not support');
  const list = Array.isArray(value) && value.every(isJsonObject) && value.length > 0 ? value : [value];
  return list.map((one) => {
    if (isJsonObject(one) && typeof one['realm'] === 'string') return one;
    throw new IdkitError(
      'IDKIT_IMPORT',
      `${directory.pathOf(name)}: $.realm: a realm file is a JSON object whose field realm contains the realm name`,
      { hints: ['correct the file, or remove it from import/, and start again'] },
    );
  });
}

function checkUnique(
  directory: RealmDirectory,
  realms: readonly { file: ReadFile; representation: Json }[],
): void {
  const seen = new Map<unknown, string>();
  for (const { file, representation } of realms) {
    const { realm } = representation;
    const before = seen.get(realm);
    if (before !== undefined)
      throw unused(directory, file.name, `realm ${String(realm)} is in ${before} already`);
    seen.set(realm, file.name);
  }
}

function joinFiles(
  directory: RealmDirectory,
  file: ReadFile,
  representation: Json,
  usersFiles: readonly UsersFile[],
): RealmFiles {
  const realm = String(representation['realm']);
  const lists = [{ name: file.name, users: representation['users'] }, ...usersFiles].map(
    ({ name, users }) => ({ name, users: users ?? [] }),
  );
  const hash = createHash('sha256');
  for (const { digest } of [file, ...usersFiles]) hash.update(digest);
  // If one list of users is not an array, the lists are not joined. The import then rejects the file.
  const users = lists.flatMap((list) => (Array.isArray(list.users) ? [{ ...list, users: list.users }] : []));
  const isJoined = usersFiles.length > 0 && users.length === lists.length;
  return {
    realm,
    files: [file, ...usersFiles].map(({ name }) => name),
    representation: isJoined
      ? { ...representation, users: users.flatMap((list) => list.users) }
      : representation,
    fileOf: (path) => directory.pathOf((isJoined ? findFile(path, users) : undefined) ?? file.name),
    fingerprint: `realm-file:${realm}:${hash.digest('hex')}`,
  };
}

/** Returns the file that contains a user. The index in `path` counts the users of all files. */
function findFile(
  path: string,
  lists: readonly { name: string; users: readonly unknown[] }[],
): string | undefined {
  let index = Number(/^\$\.users\[(\d+)\]/.exec(path)?.[1] ?? Number.NaN);
  for (const { name, users } of lists) {
    if (index < users.length) return name;
    index -= users.length;
  }
  return undefined;
}

function unused(
  directory: RealmDirectory,
  name: string,
  why: string,
  hints: readonly string[] = [],
): IdkitError {
  return new IdkitError('IDKIT_IMPORT', `${directory.pathOf(name)} is not used: ${why}`, {
    hints: [...hints, `${hints.length > 0 ? 'or ' : ''}remove it from import/, and start again`],
  });
}
