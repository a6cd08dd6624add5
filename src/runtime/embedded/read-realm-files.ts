import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Environment, parseRealmFile, resolvePlaceholders } from '../../admin/index.ts';
import { IdkitError, systemErrorCode } from '../../core/index.ts';

/** Where files go that were imported. */
export const DONE = 'done';

/** A realm of the import directory, read from one file or from several. */
export interface RealmFiles {
  realm: string;
  /** Names in the directory; the first has the realm, the others have users of it. */
  files: readonly string[];
  representation: Json;
  /** Which file holds the place of a JSON path. */
  fileOf(path: string): string;
  /** Names the realm and the bytes of its files: what was imported once is known by it. */
  fingerprint: string;
}

type Json = Readonly<Record<string, unknown>>;

interface ReadFile {
  name: string;
  value: unknown;
  digest: string;
}

/** Names that `kc export --dir` gives to the users of a realm. */
const USERS_FILE = /-users-\d+\.json$/;
const FEDERATED_FILE = /-federated-users-\d+\.json$/;

/**
 * Reads the import directory as Keycloak reads the one of `kc import --dir`: `R-realm.json` with the users in
 * `R-users-0.json` and so on; any other `*.json` file holds one realm or a list of realms (`kc export --file`). Hidden
 * files and `done/` are left alone.
 *
 * @throws IDKIT_IMPORT that names the file: one that is not JSON or is not used, users without their realm, a realm in
 *   two files
 */
export async function readRealmFiles(
  directory: string,
  environment: Environment,
): Promise<readonly RealmFiles[]> {
  const files: ReadFile[] = [];
  for (const name of await listFiles(directory)) files.push(await readOne(directory, name, environment));
  const users = files.filter(({ name, value }) => USERS_FILE.test(name) && isUsersFile(value));
  const realms = files
    .filter((file) => !users.includes(file))
    .flatMap((file) => realmsOf(directory, file).map((representation) => ({ file, representation })));
  checkUnique(directory, realms);
  const names = new Set(realms.map(({ representation }) => representation['realm']));
  for (const { name, value } of users) {
    const { realm } = value as { realm: string };
    if (!names.has(realm))
      throw unused(directory, name, `it holds users of realm ${realm}, and no file holds the realm itself`, [
        `put ${realm}-realm.json beside it: kc export --dir writes both`,
      ]);
  }
  return realms.map(({ file, representation }) => {
    const own = users.filter(({ value }) => (value as Json)['realm'] === representation['realm']);
    return joinFiles(file, representation, own);
  });
}

async function listFiles(directory: string): Promise<readonly string[]> {
  let names: string[];
  try {
    names = (await readdir(directory)).sort(byNumber);
  } catch (cause) {
    if (systemErrorCode(cause) === 'ENOENT') return [];
    throw new IdkitError('IDKIT_IMPORT', `${directory} cannot be read`, { cause });
  }
  const files: string[] = [];
  for (const name of names) {
    if (name.startsWith('.') || name === DONE) continue;
    const found = await lstat(join(directory, name));
    if (found.isDirectory())
      throw unused(directory, name, 'it is a directory', ['move its files into import/ itself']);
    if (!name.endsWith('.json')) throw unused(directory, name, 'its name does not end in .json');
    files.push(name);
  }
  return files;
}

/** `users-2` before `users-10`. */
function byNumber(one: string, other: string): number {
  return one.localeCompare(other, 'en', { numeric: true });
}

async function readOne(directory: string, name: string, environment: Environment): Promise<ReadFile> {
  const file = join(directory, name);
  let bytes: Buffer;
  try {
    bytes = await readRegular(file);
  } catch (cause) {
    throw new IdkitError('IDKIT_IMPORT', `${file} cannot be read`, { cause });
  }
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

/** A link is followed, as the files of a Kubernetes volume are links; a FIFO behind it would keep `serve` for ever. */
async function readRegular(file: string): Promise<Buffer> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    if (!(await handle.stat()).isFile()) throw new Error('it is not a regular file');
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}

function isUsersFile(value: unknown): boolean {
  if (!isObject(value) || typeof value['realm'] !== 'string') return false;
  return Object.keys(value).every((field) => field === 'realm' || field === 'users');
}

/** What the file holds; what is not a realm at all is judged by its import. */
function realmsOf(directory: string, { name, value }: ReadFile): readonly Json[] {
  if (FEDERATED_FILE.test(name) && isObject(value) && 'federatedUsers' in value)
    throw unused(directory, name, 'it holds users of a user federation, which idkit does not have');
  const list = Array.isArray(value) && value.every(isObject) && value.length > 0 ? value : [value];
  return list.map((one) => {
    if (isObject(one) && typeof one['realm'] === 'string') return one;
    throw new IdkitError(
      'IDKIT_IMPORT',
      `${join(directory, name)}: $.realm: a realm file is a JSON object with the name of the realm in the field realm`,
      { hints: ['correct the file, or remove it from import/, and start again'] },
    );
  });
}

function checkUnique(directory: string, realms: readonly { file: ReadFile; representation: Json }[]): void {
  const seen = new Map<unknown, string>();
  for (const { file, representation } of realms) {
    const { realm } = representation;
    const before = seen.get(realm);
    if (before !== undefined)
      throw unused(directory, file.name, `realm ${String(realm)} is in ${before} already`);
    seen.set(realm, file.name);
  }
}

function joinFiles(file: ReadFile, representation: Json, users: readonly ReadFile[]): RealmFiles {
  const realm = String(representation['realm']);
  const lists = [{ name: file.name, list: representation['users'] ?? [] }].concat(
    users.map(({ name, value }) => ({ name, list: (value as Json)['users'] ?? [] })),
  );
  const hash = createHash('sha256');
  for (const { digest } of [file, ...users]) hash.update(digest);
  const simple = users.length === 0 || lists.some(({ list }) => !Array.isArray(list));
  return {
    realm,
    files: [file, ...users].map(({ name }) => name),
    representation: simple
      ? representation
      : { ...representation, users: lists.flatMap(({ list }) => list as unknown[]) },
    fileOf: (path) => findFile(path, lists) ?? file.name,
    fingerprint: `realm-file:${realm}:${hash.digest('hex')}`,
  };
}

/** The file of a user by its place among all of them. */
function findFile(path: string, lists: readonly { name: string; list: unknown }[]): string | undefined {
  let index = Number(/^\$\.users\[(\d+)\]/.exec(path)?.[1] ?? Number.NaN);
  for (const { name, list } of lists) {
    const { length } = list as readonly unknown[];
    if (index < length) return name;
    index -= length;
  }
  return undefined;
}

function unused(directory: string, name: string, why: string, hints: readonly string[] = []): IdkitError {
  return new IdkitError('IDKIT_IMPORT', `${join(directory, name)} is not used: ${why}`, {
    hints: [...hints, 'or remove it from import/, and start again'],
  });
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
