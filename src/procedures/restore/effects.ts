import { parse } from 'yaml';
import {
  listConfigArchive,
  readConfigFile,
  SET_FILES,
  type SetHandle,
  type Verdict,
} from '../../backupset/index.ts';
import { parseEnvContent, type Settings } from '../../config/index.ts';
import { IdkitError, jsonFields, renderCount } from '../../core/index.ts';
import type { RestoreOptions } from './options.ts';

/** An item of a set that decides which program runs, which address is contacted or what is served after a restore. */
export interface Effect {
  kind: 'data' | 'command' | 'address' | 'image' | 'file';
  /** Its location in the set, for example `idkit.yaml: keycloak.start`. */
  from: string;
  /** The item in words, such as a command or an address: printable, without credentials. */
  what: string;
}

const LONGEST_YAML = 1024 * 1024;

/** Names of files that a container may run or load. */
const RUNS = /\.(sh|bash|py|pl|rb|js|mjs|cjs|lua|jar|war|so|wasm|sql)$/i;

/** The settings of idkit.yaml whose values are commands or addresses. */
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

/** The kind of each key of a service in compose.yaml. Every other key is a `file`. */
const SERVICE_KEYS: Readonly<Record<string, Effect['kind']>> = {
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
 * Lists everything that a restore takes over from the set: the dump, the environment and `config/`. A target without a
 * definition also takes over `idkit.yaml` and `compose.yaml`.
 *
 * @throws IDKIT_DAMAGED if the archive is damaged
 */
export async function listEffects(
  set: SetHandle,
  target: Settings,
  verified: { verdict: Verdict; environment?: Uint8Array },
  options: RestoreOptions,
): Promise<readonly Effect[]> {
  const effects: Effect[] = [];
  const { dump, realms } = verified.verdict;
  if (dump !== undefined) {
    const names = realms.map(({ realm }) => realm).join(', ');
    effects.push({
      kind: 'data',
      from: SET_FILES.dump,
      what: `a dump of ${dump.kind}${names === '' ? '' : ` with ${names}`}`,
    });
  }
  if (verified.environment !== undefined) effects.push(...listEnvironment(verified.environment));
  if (set.names.includes(SET_FILES.config)) {
    if (options.keepConfig !== true) effects.push(...(await listFiles(set, options)));
    if (!target.exists) effects.push(...(await listDefinition(set, options)));
  }
  return effects.map((effect) => ({
    ...effect,
    what: printable(effect.what),
    from: printable(effect.from),
  }));
}

/** Lists the variables of the environment file: all of their names, and every value that is an address. */
function listEnvironment(plain: Uint8Array): readonly Effect[] {
  const values = [...parseEnvContent(plain, SET_FILES.environment)];
  const addresses = values.filter(([, value]) => /^(sqlite:|[a-z][a-z0-9+.-]*:\/\/)/i.test(value));
  return [
    {
      kind: 'file',
      from: SET_FILES.environment,
      what: `.env with ${values.map(([name]) => name).join(', ')}`,
    },
    ...addresses.map(
      ([name, value]): Effect => ({
        kind: 'address',
        from: `${SET_FILES.environment}: ${name}`,
        what: withoutCredentials(value),
      }),
    ),
  ];
}

/** Counts the files of `config/` and names those that a program may run. */
async function listFiles(set: SetHandle, { signal }: RestoreOptions): Promise<readonly Effect[]> {
  const entries = (await listConfigArchive(set, { signal })).filter(({ path }) => path.startsWith('config/'));
  const files = entries.filter(({ type }) => type !== 'directory');
  if (files.length === 0) return [];
  const runnable = files.filter(
    ({ path, mode, type }) => (type === 'file' && (mode & 0o111) !== 0) || RUNS.test(path),
  );
  return [
    { kind: 'file', from: SET_FILES.config, what: `config/ with ${renderCount(files.length, 'file')}` },
    ...runnable.map(({ path }): Effect => ({ kind: 'file', from: SET_FILES.config, what: path })),
  ];
}

async function listDefinition(set: SetHandle, { signal }: RestoreOptions): Promise<readonly Effect[]> {
  const definition = await readYaml(set, 'idkit.yaml', signal);
  const compose = await readYaml(set, 'compose.yaml', signal);
  const effects: Effect[] = [];
  for (const [names, kind] of [
    [COMMANDS, 'command'],
    [ADDRESSES, 'address'],
  ] as const)
    for (const name of names) {
      const value = memberOf(definition, name);
      if (value !== undefined && value !== null)
        effects.push({ kind, from: `idkit.yaml: ${name}`, what: withoutCredentials(textOf(value)) });
    }
  for (const [key, value] of membersOf(compose)) {
    if (key !== 'services') {
      effects.push({ kind: 'file', from: `compose.yaml: ${key}`, what: textOf(value) });
      continue;
    }
    for (const [service, options] of membersOf(value))
      for (const [name, setting] of membersOf(options))
        effects.push({
          kind: SERVICE_KEYS[name] ?? 'file',
          from: `compose.yaml: ${service}.${name}`,
          what: withoutCredentials(textOf(setting)),
        });
  }
  return effects;
}

/** Parses a file of the archive. Returns undefined if the set does not contain it. @throws IDKIT_SETTING */
async function readYaml(
  set: SetHandle,
  name: 'idkit.yaml' | 'compose.yaml',
  signal: AbortSignal,
): Promise<unknown> {
  const bytes = await readConfigFile(set, name, LONGEST_YAML, { signal });
  if (bytes === undefined) return undefined;
  try {
    const document: unknown = parse(bytes.toString('utf8'));
    // A YAML alias can make a value contain itself, and such a value cannot be printed.
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
  return Object.entries(jsonFields(value));
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Removes the password from `user:password@` and from a query. */
function withoutCredentials(text: string): string {
  return text
    .replaceAll(/(:\/\/[^/\s:@"]*):[^@/\s"]*@/g, '$1@')
    .replaceAll(/([?&](?:ssl)?password=)[^&\s"]*/gi, '$1…');
}

/** Escapes text from an untrusted set, which must not control the terminal or look like another line. */
function printable(text: string): string {
  return text.replaceAll(
    /[\0-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Renders `idkit.yaml: keycloak.start: systemctl start keycloak`. */
export function renderEffect({ from, what }: Effect): string {
  return `${from}: ${what}`;
}
