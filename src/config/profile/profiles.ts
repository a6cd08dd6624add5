import { readFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { IdkitError, isJsonObject, jsonFields, parseJsonObject } from '../../core/index.ts';
import { isMissing, replaceFile } from '../../files/index.ts';
import { type LockedFile, lockedFile, makePrivateDirectory } from '../lock/locked-file.ts';
import { withLock } from '../lock/with-lock.ts';

/** An address to which a person has logged in. It contains no secret. */
export interface Profile {
  name: string;
  /** The base URL of the service, without a trailing slash. */
  url: string;
  /** The realm of the person. */
  realm: string;
  username: string;
  clientId: string;
  /** Whether the person agreed to send tokens over plain http. Loopback addresses need no agreement. */
  insecureHttp: boolean;
}

/** The profiles of one user of this machine, and where their sessions are. */
export interface Profiles {
  /** The file that contains the profiles. */
  file: string;
  /** The name of the profile that commands use if they do not name one. */
  current: string | undefined;
  list: readonly Profile[];
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;
const APPLICATION = 'idkit';
/** Seconds that a command waits for another one that changes the profiles or renews a session. */
const PATIENCE_SECONDS = 60;

/** @throws IDKIT_USAGE if the name is not the name of a file */
export function checkProfileName(name: string, what: string): string {
  if (NAME.test(name)) return name;
  throw new IdkitError(
    'IDKIT_USAGE',
    `${what} must be letters, digits, dots, hyphens and underscores, not ${JSON.stringify(name)}`,
  );
}

/** Returns the name for a profile that the person did not name: the host, the port, and the realm if not `master`. */
export function profileNameFor(url: string, realm: string): string {
  const { host, pathname } = new URL(url);
  const parts = [host, ...pathname.split('/'), realm === 'master' ? '' : realm];
  return parts
    .filter((part) => part !== '')
    .join('-')
    .replace(/[^A-Za-z0-9._-]/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, 100);
}

/**
 * Returns the profiles in `$XDG_CONFIG_HOME/idkit`, in the order of their names. Returns an empty list if the file does
 * not exist.
 *
 * @throws IDKIT_SETTING if the file is not what idkit wrote
 */
export function readProfiles(env: NodeJS.ProcessEnv): Profiles {
  const dir = findDirectory(env, 'XDG_CONFIG_HOME', '.config');
  if (dir === undefined) return { file: '', current: undefined, list: [] };
  const file = join(dir, 'profiles.json');
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (isMissing(error)) return { file, current: undefined, list: [] };
    throw new IdkitError('IDKIT_SETTING', `${file} cannot be read`, { cause: error });
  }
  return parse(text, file);
}

/** Returns a profile by its name. @throws IDKIT_NOT_FOUND */
export function findProfile(profiles: Profiles, name: string): Profile {
  const profile = profiles.list.find((each) => each.name === name);
  if (profile !== undefined) return profile;
  throw new IdkitError('IDKIT_NOT_FOUND', `there is no profile ${name}`, {
    hints: [
      profiles.list.length === 0
        ? 'idkit login URL logs in to a service and creates a profile'
        : `the profiles are ${profiles.list.map((each) => each.name).join(', ')}`,
    ],
  });
}

/**
 * Adds or replaces a profile and makes it the current one.
 *
 * @throws IDKIT_SETTING if HOME is not set; IDKIT_DIRECTORY_NOT_WRITABLE; IDKIT_NO_SPACE
 */
export function saveProfile(env: NodeJS.ProcessEnv, profile: Profile): Promise<void> {
  return change(env, ({ list }) => ({
    current: profile.name,
    list: [...list.filter(({ name }) => name !== profile.name), profile],
  }));
}

/** Makes a profile the current one. @throws IDKIT_NOT_FOUND */
export function selectProfile(env: NodeJS.ProcessEnv, name: string): Promise<void> {
  return change(env, (profiles) => ({ ...profiles, current: findProfile(profiles, name).name }));
}

/** Removes a profile, but not its session. @throws IDKIT_NOT_FOUND */
export function removeProfile(env: NodeJS.ProcessEnv, name: string): Promise<void> {
  return change(env, (profiles) => {
    const { name: removed } = findProfile(profiles, name);
    return {
      current: profiles.current === removed ? undefined : profiles.current,
      list: profiles.list.filter((profile) => profile.name !== removed),
    };
  });
}

/**
 * Returns the file of a profile's session in `$XDG_STATE_HOME/idkit`, whose directory only its owner can read.
 *
 * @throws IDKIT_SETTING if HOME is not set
 */
export function sessionFile(env: NodeJS.ProcessEnv, name: string, signal?: AbortSignal): LockedFile {
  const dir = join(needDirectory(env, 'XDG_STATE_HOME', '.local/state'), 'sessions');
  return lockedFile(join(dir, `${name}.json`), signal);
}

function change(
  env: NodeJS.ProcessEnv,
  next: (profiles: Profiles) => Pick<Profiles, 'current' | 'list'>,
): Promise<void> {
  const dir = needDirectory(env, 'XDG_CONFIG_HOME', '.config');
  makePrivateDirectory(dir);
  return withLock(join(dir, 'profiles.lock'), { patienceSeconds: PATIENCE_SECONDS }, async () => {
    const profiles = readProfiles(env);
    const { current, list } = next(profiles);
    const sorted = list.toSorted((one, other) => (one.name < other.name ? -1 : 1));
    const fields = Object.fromEntries(sorted.map(({ name, ...profile }) => [name, profile]));
    replaceFile(profiles.file, `${JSON.stringify({ current, profiles: fields }, null, 2)}\n`);
  });
}

/**
 * Returns idkit's directory of one kind (XDG Base Directory Specification). A relative variable is ignored, as the
 * specification demands. Returns undefined if neither the variable nor HOME is set.
 */
function findDirectory(env: NodeJS.ProcessEnv, variable: string, below: string): string | undefined {
  const given = env[variable];
  if (given !== undefined && isAbsolute(given)) return join(given, APPLICATION);
  const home = env['HOME'];
  return home === undefined || !isAbsolute(home) ? undefined : join(home, below, APPLICATION);
}

function needDirectory(env: NodeJS.ProcessEnv, variable: string, below: string): string {
  const dir = findDirectory(env, variable, below);
  if (dir !== undefined) return dir;
  throw new IdkitError(
    'IDKIT_SETTING',
    `neither HOME nor ${variable} is set, so idkit cannot keep a session`,
    {
      hints: ['set HOME, or use --base-url with IDKIT_ADMIN_USERNAME and IDKIT_ADMIN_PASSWORD'],
    },
  );
}

function parse(text: string, file: string): Profiles {
  const fields = parseJsonObject(text);
  const profiles = fields?.['profiles'];
  if (fields === undefined || !isJsonObject(profiles))
    throw damaged(file, 'it is not a JSON object with profiles');
  const { current } = fields;
  return {
    file,
    current: typeof current === 'string' ? current : undefined,
    list: Object.entries(profiles).map(([name, value]) => parseProfile(name, jsonFields(value), file)),
  };
}

function parseProfile(name: string, fields: Readonly<Record<string, unknown>>, file: string): Profile {
  const text = (field: string): string => {
    const value = fields[field];
    if (typeof value === 'string' && value !== '') return value;
    throw damaged(file, `${field} of the profile ${name} is not a text`);
  };
  if (!NAME.test(name)) throw damaged(file, `${JSON.stringify(name)} is not the name of a profile`);
  const url = text('url');
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
    throw damaged(file, `url of the profile ${name} is not an http or https URL`);
  return {
    name,
    url,
    realm: text('realm'),
    username: text('username'),
    clientId: text('clientId'),
    insecureHttp: fields['insecureHttp'] === true,
  };
}

function damaged(file: string, reason: string): IdkitError {
  return new IdkitError('IDKIT_SETTING', `${file} cannot be used: ${reason}`, {
    hints: ['correct the file, or remove it and run idkit login URL'],
  });
}
