import { readFileSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { IdkitError, Secret } from '../../core/index.ts';
import { checkEnvKeys, type EnvValues, parseEnvContent, readEnvFile } from '../environment/file.ts';
import { findKeycloakNames } from '../environment/keycloak-names.ts';
import { platformPaths, resolvePlatformDirectory } from '../paths.ts';
import { parseYamlFile, readYamlFile, type YamlValue } from '../yaml/file.ts';
import { PLAIN_VALUES } from './plain-values.ts';
import type { Application, SettingSource, Settings } from './settings.ts';
import { type SettingDoc, type SettingName, settingDocs } from './table.ts';

/** Values given by flags, by the setting's name; text as the person wrote it. */
export type SettingFlags = Partial<Record<SettingName, string>>;

/** Where settings come from; everything defaults to this process. */
export interface LoadOptions {
  /** The value of `--dir`. */
  dir?: string | undefined;
  flags?: SettingFlags;
  env?: NodeJS.ProcessEnv;
  cwd?: string;
  /** What counts instead of the directory's own file, which is not read then. */
  contents?: { env?: GivenContent; yaml?: GivenContent };
}

/** The content of a settings file that is not in its place (yet). */
export interface GivenContent {
  /** The name for messages. */
  file: string;
  bytes: Uint8Array;
}

/** A value before it is checked. `place` is what a message calls it. */
interface Given {
  value: unknown;
  source: SettingSource;
  place: string;
}

/**
 * Every effective setting: flag, then process environment, then `.env`, then `idkit.yaml`, then the default
 * (contract §2). An empty variable counts as not given. Nothing is written; the directory need not exist.
 *
 * @throws IDKIT_SETTING naming the setting, its place and what was expected; IDKIT_ENV_READABLE;
 * IDKIT_DIRECTORY_MISSING where the path is no directory
 */
export async function loadSettings(options: LoadOptions = {}): Promise<Settings> {
  const env = options.env ?? process.env;
  const cwd = options.cwd ?? process.cwd();
  const dir = resolvePlatformDirectory({ flag: options.dir, env, cwd });
  const paths = platformPaths(dir);
  const { contents } = options;
  const envFile = contents?.env === undefined ? readEnvFile(paths.env) : readGivenEnv(contents.env);
  const yamlName = contents?.yaml?.file ?? paths.yaml;
  const yaml =
    contents?.yaml === undefined
      ? await readYamlFile(paths.yaml)
      : await parseYamlFile(contents.yaml.bytes, yamlName);

  const given = new Map<SettingName, Given>();
  for (const row of settingDocs()) {
    const found = findGiven(row, options.flags ?? {}, env, envFile, yaml, yamlName);
    if (found !== undefined) given.set(row.name, found);
  }
  if (given.get('service')?.value === 'keycloak')
    for (const { setting, variable, value, source } of findKeycloakNames(env, envFile)) {
      const place = source === '.env' ? `.env: ${variable}` : variable;
      if (!given.has(setting)) given.set(setting, { value, source, place });
    }
  const inFile = findPasswordFile(given.get('IDKIT_DATABASE_PASSWORD'), env, envFile, dir);
  if (inFile !== undefined) given.set('IDKIT_DATABASE_PASSWORD', inFile);
  const values = await checkValues(given);
  const sources: Record<string, SettingSource> = {};
  for (const row of settingDocs()) sources[row.name] = given.get(row.name)?.source ?? 'default';

  const get = <T>(name: SettingName): T => values.get(name) as T;
  const getSecret = (name: SettingName): Secret | undefined => {
    const text = values.get(name) as string | undefined;
    return text === undefined ? undefined : new Secret(text);
  };
  const path = (name: SettingName): string | null => {
    const text = get<string | null>(name);
    if (text === null || isAbsolute(text)) return text;
    return resolve(given.get(name)?.source === 'flag' ? cwd : dir, text);
  };

  const settings: Settings = {
    dir,
    exists: yaml !== undefined,
    runtime: get('runtime'),
    service: get('service'),
    baseUrl: get('baseUrl'),
    listen: {
      host: get('listen.host'),
      port: get('listen.port'),
      managementPort: get('listen.managementPort'),
      managementHost: get('listen.managementHost'),
      tlsCert: path('listen.tlsCert'),
      tlsKey: path('listen.tlsKey'),
      drainSeconds: get('listen.drainSeconds'),
    },
    database: readDatabase(get('database'), dir),
    trustedProxies: get('trustedProxies'),
    admin: { protectAdministrators: get('admin.protectAdministrators') },
    realmFiles: { remove: get('realmFiles.remove') },
    outbound: { privateAddresses: get('outbound.privateAddresses') },
    realms: get('realms'),
    backup: {
      root: path('backup.root')!,
      keepDays: get('backup.keepDays'),
      keepVersions: get('backup.keepVersions'),
      mirror: get('backup.mirror'),
    },
    smoke: {
      realm: get('smoke.realm'),
      clientId: get('smoke.clientId'),
      clientSecret: getSecret('IDKIT_SMOKE_CLIENT_SECRET'),
    },
    applications: get<readonly Application[]>('applications'),
    compose: {
      engine: get('compose.engine'),
      project: get('compose.project'),
      proxy: get('compose.proxy'),
    },
    keycloak: {
      managementUrl: get('keycloak.managementUrl'),
      start: get('keycloak.start'),
      stop: get('keycloak.stop'),
    },
    metrics: { public: get('metrics.public') },
    limits: { bodyBytes: get('limits.bodyBytes'), adminBodyBytes: get('limits.adminBodyBytes') },
    administrator: { username: get('IDKIT_ADMIN_USERNAME'), password: getSecret('IDKIT_ADMIN_PASSWORD') },
    masterKey: getSecret('IDKIT_MASTER_KEY'),
    masterKeyOld: getSecret('IDKIT_MASTER_KEY_OLD'),
    environment: new Map(
      [...envFile]
        .filter(([key]) => !key.startsWith('IDKIT_'))
        .map(([key, value]) => [key, env[key] || value]),
    ),
    databasePassword: getSecret('IDKIT_DATABASE_PASSWORD'),
    sources,
  };
  checkTogether(settings);
  return settings;
}

function readGivenEnv({ bytes, file }: GivenContent): EnvValues {
  const values = parseEnvContent(bytes, file);
  checkEnvKeys(values, file);
  return values;
}

/** The value with the highest precedence; undefined where none is given. */
function findGiven(
  row: SettingDoc & { name: SettingName },
  flags: SettingFlags,
  env: NodeJS.ProcessEnv,
  envFile: EnvValues,
  yaml: ReadonlyMap<string, YamlValue> | undefined,
  yamlFile: string,
): Given | undefined {
  const flag = flags[row.name];
  if (flag !== undefined) return { value: flag, source: 'flag', place: row.flag ?? row.name };
  if (row.env !== undefined) {
    const variable = env[row.env];
    if (variable !== undefined && variable !== '') {
      return { value: variable, source: 'environment', place: row.env };
    }
    const kept = envFile.get(row.env);
    if (kept !== undefined && kept !== '') {
      return { value: kept, source: '.env', place: `.env: ${row.env}` };
    }
  }
  const written = yaml?.get(row.name);
  if (written === undefined) return undefined;
  return {
    value: written.value,
    source: 'idkit.yaml',
    place: `${yamlFile} line ${written.line}: ${row.name}`,
  };
}

/** Checks what is given and fills in defaults. The schema is loaded only where something is to be checked. */
async function checkValues(given: ReadonlyMap<SettingName, Given>): Promise<Map<SettingName, unknown>> {
  const values = new Map<SettingName, unknown>();
  for (const row of settingDocs()) {
    const found = given.get(row.name);
    if (found === undefined) values.set(row.name, row.default);
    else if (row.secret) values.set(row.name, checkSecret(found));
    else values.set(row.name, await checkValue(row, found));
  }
  return values;
}

function checkSecret(found: Given): unknown {
  const text = found.value as string;
  if (/[\0\r\n]/.test(text)) {
    throw new IdkitError('IDKIT_SETTING', `${found.place} must be one line without a NUL byte`);
  }
  return text;
}

async function checkValue(row: SettingDoc & { name: SettingName }, found: Given): Promise<unknown> {
  const value = found.source === 'idkit.yaml' ? found.value : readTextValue(row, found.value as string);
  if (PLAIN_VALUES[row.name]?.(value)) return value;
  const { SETTING_SCHEMAS } = await import('./schema.ts');
  const result = SETTING_SCHEMAS[row.name]!.safeParse(value);
  if (result.success) return result.data;
  throw new IdkitError(
    found.source === 'flag' ? 'IDKIT_USAGE' : 'IDKIT_SETTING',
    `${found.place} must be ${row.expected}${describeValue(row, found.value)}`,
  );
}

/** A URL may hold a password, so it is not shown. */
function describeValue(row: SettingDoc, value: unknown): string {
  if (/URL/i.test(row.expected) || row.name === 'database') return '';
  const shown = JSON.stringify(value) ?? 'nothing';
  return `, not ${shown.length > 80 ? `${shown.slice(0, 80)}…` : shown}`;
}

const NUMBER_OR_NULL: ReadonlySet<string> = new Set(['listen.managementPort', 'listen.drainSeconds']);

/** Flags and variables are text; numbers among the settings are read from it. */
function readTextValue(row: SettingDoc, text: string): unknown {
  const isNumber = typeof row.default === 'number' || NUMBER_OR_NULL.has(row.name);
  return isNumber && /^\d{1,10}$/.test(text) ? Number(text) : text;
}

function readDatabase(url: string, dir: string): Settings['database'] {
  if (!url.startsWith('sqlite:')) return { kind: 'postgres', url };
  const file = url.slice('sqlite:'.length).replace(/^\/\/(?=\/)/, '');
  return { kind: 'sqlite', file: resolve(dir, file) };
}

/**
 * The password in the file that IDKIT_DATABASE_PASSWORD_FILE names, where that wins over `direct`: a file of the process
 * environment over a password of `.env`, and in the same place the password over the file. An empty one gives none.
 */
function findPasswordFile(
  direct: Given | undefined,
  env: NodeJS.ProcessEnv,
  envFile: EnvValues,
  dir: string,
): Given | undefined {
  const name = 'IDKIT_DATABASE_PASSWORD_FILE';
  if (direct?.source === 'environment') return undefined;
  const file = env[name] || (direct === undefined ? envFile.get(name) : undefined);
  if (!file) return undefined;
  try {
    const [value = ''] = readFileSync(isAbsolute(file) ? file : join(dir, file), 'utf8').split(/\r?\n/);
    return value === '' ? undefined : { value, source: 'file', place: `the file of ${name}` };
  } catch (error) {
    throw new IdkitError('IDKIT_SETTING', `${name} names ${file}, and it cannot be read`, { cause: error });
  }
}

/** What no single setting can say. */
function checkTogether(settings: Settings): void {
  const { tlsCert, tlsKey, port, managementPort } = settings.listen;
  if (port === managementPort && port !== 0) {
    throw new IdkitError('IDKIT_SETTING', `listen.port and listen.managementPort are both ${port}`, {
      hints: ['choose another one for --management-port; 0 takes a free one'],
    });
  }
  if ((tlsCert === null) !== (tlsKey === null)) {
    throw new IdkitError(
      'IDKIT_SETTING',
      'listen.tlsCert and listen.tlsKey go together, and one is missing',
      {
        hints: ['give both --tls-cert and --tls-key, or neither'],
      },
    );
  }
}
