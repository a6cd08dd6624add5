import { parse } from 'yaml';
import {
  listConfigArchive,
  readConfigFile,
  SET_FILES,
  type SetHandle,
  type Verdict,
} from '../../backupset/index.ts';
import { parseEnvContent, type Settings } from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';
import type { RestoreOptions } from './options.ts';

/** Something of a set that decides what runs, what is reached or what is served once it is restored. */
export interface Brought {
  kind: 'data' | 'command' | 'address' | 'image' | 'file';
  /** The place in the set: `idkit.yaml: keycloak.start`. */
  from: string;
  /** Printable, without credentials. */
  what: string;
}

const LONGEST_YAML = 1024 * 1024;

/** A file that a program of a container runs or loads, by its name. */
const RUNS = /\.(sh|bash|py|pl|rb|js|mjs|cjs|lua|jar|war|so|wasm|sql)$/i;

/** What of idkit.yaml is a command, and what is an address; the rest decides neither. */
const COMMANDS = ['keycloak.start', 'keycloak.stop', 'compose.engine'];
const ADDRESSES = [
  'database',
  'baseUrl',
  'keycloak.managementUrl',
  'backup.mirror',
  'backup.root',
  'listen.host',
  'applications',
];

/** What of a service of compose.yaml is what; any other key that it has is named as well. */
const SERVICE_KEYS: Readonly<Record<string, Brought['kind']>> = {
  image: 'image',
  build: 'image',
  command: 'command',
  entrypoint: 'command',
  healthcheck: 'command',
  post_start: 'command',
  pre_stop: 'command',
  ports: 'address',
  extra_hosts: 'address',
  network_mode: 'address',
  dns: 'address',
};

/**
 * What a restore takes over from the set: the dump, the environment, `config/`, and for a target without a definition of
 * its own `idkit.yaml` and `compose.yaml`.
 *
 * @throws IDKIT_DAMAGED if the archive does not hold
 */
export async function listBrought(
  set: SetHandle,
  target: Settings,
  verified: { verdict: Verdict; environment?: Uint8Array },
  options: RestoreOptions,
): Promise<readonly Brought[]> {
  const brought: Brought[] = [];
  const { dump, realms } = verified.verdict;
  if (dump !== undefined) {
    const names = realms.map(({ realm }) => realm).join(', ');
    brought.push({
      kind: 'data',
      from: SET_FILES.dump,
      what: `a dump of ${dump.kind}${names === '' ? '' : ` with ${names}`}`,
    });
  }
  if (verified.environment !== undefined) brought.push(...listEnvironment(verified.environment));
  if (set.names.includes(SET_FILES.config)) {
    if (options.keepConfig !== true) brought.push(...(await listFiles(set, options)));
    if (!target.exists) brought.push(...(await listDefinition(set, options)));
  }
  return brought.map((one) => ({ ...one, what: printable(one.what), from: printable(one.from) }));
}

/** The names of the settings, and every value that is an address. */
function listEnvironment(plain: Uint8Array): readonly Brought[] {
  const values = [...parseEnvContent(plain, SET_FILES.environment)];
  const addresses = values.filter(([, value]) => /^(sqlite:|[a-z][a-z0-9+.-]*:\/\/)/i.test(value));
  return [
    {
      kind: 'file',
      from: SET_FILES.environment,
      what: `.env with ${values.map(([name]) => name).join(', ')}`,
    },
    ...addresses.map(
      ([name, value]): Brought => ({
        kind: 'address',
        from: `${SET_FILES.environment}: ${name}`,
        what: withoutCredentials(value),
      }),
    ),
  ];
}

/** How many files `config/` has, and by name those that something may run. */
async function listFiles(set: SetHandle, { signal }: RestoreOptions): Promise<readonly Brought[]> {
  const entries = (await listConfigArchive(set, { signal })).filter(({ path }) => path.startsWith('config/'));
  const files = entries.filter(({ type }) => type !== 'directory');
  if (files.length === 0) return [];
  const running = files.filter(
    ({ path, mode, type }) => (type === 'file' && (mode & 0o111) !== 0) || RUNS.test(path),
  );
  return [
    { kind: 'file', from: SET_FILES.config, what: `config/ with ${files.length} files` },
    ...running.map(({ path }): Brought => ({ kind: 'file', from: SET_FILES.config, what: path })),
  ];
}

async function listDefinition(set: SetHandle, { signal }: RestoreOptions): Promise<readonly Brought[]> {
  const definition = await readYaml(set, 'idkit.yaml', signal);
  const compose = await readYaml(set, 'compose.yaml', signal);
  const brought: Brought[] = [];
  for (const [names, kind] of [
    [COMMANDS, 'command'],
    [ADDRESSES, 'address'],
  ] as const)
    for (const name of names) {
      const value = memberOf(definition, name);
      if (value !== undefined && value !== null)
        brought.push({ kind, from: `idkit.yaml: ${name}`, what: withoutCredentials(textOf(value)) });
    }
  for (const [key, value] of membersOf(compose)) {
    if (key !== 'services') {
      brought.push({ kind: 'file', from: `compose.yaml: ${key}`, what: textOf(value) });
      continue;
    }
    for (const [service, options] of membersOf(value))
      for (const [name, said] of membersOf(options))
        brought.push({
          kind: SERVICE_KEYS[name] ?? 'file',
          from: `compose.yaml: ${service}.${name}`,
          what: withoutCredentials(textOf(said)),
        });
  }
  return brought;
}

/** The file as values; undefined if the set holds none. What cannot be read is refused when it is taken over. */
async function readYaml(
  set: SetHandle,
  name: 'idkit.yaml' | 'compose.yaml',
  signal: AbortSignal,
): Promise<unknown> {
  const bytes = await readConfigFile(set, name, LONGEST_YAML, { signal });
  if (bytes === undefined) return undefined;
  try {
    const document: unknown = parse(bytes.toString('utf8'));
    // An alias may make a value hold itself, which no text shows.
    JSON.stringify(document);
    return document;
  } catch (error) {
    throw new IdkitError('IDKIT_SETTING', `${name} of ${set.name} is not a YAML document`, { cause: error });
  }
}

function memberOf(value: unknown, name: string): unknown {
  return name.split('.').reduce<unknown>((at, key) => membersOf(at).find(([own]) => own === key)?.[1], value);
}

function membersOf(value: unknown): readonly (readonly [string, unknown])[] {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : [];
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** `user:password@` as `user@`, and a password in the query. */
function withoutCredentials(text: string): string {
  return text
    .replaceAll(/(:\/\/[^/\s:@"]*):[^@/\s"]*@/g, '$1@')
    .replaceAll(/([?&](?:ssl)?password=)[^&\s"]*/gi, '$1…');
}

/** Words out of a set that nobody vouches for must not steer a terminal or look like another line. */
function printable(text: string): string {
  return text.replaceAll(
    /[\0-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** `idkit.yaml: keycloak.start: systemctl start keycloak` */
export function renderBrought({ from, what }: Brought): string {
  return `${from}: ${what}`;
}
