import { readFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { IdkitError } from '../../core/index.ts';
import { checkEnvKeys, type EnvValues, parseEnvContent, readEnvFile } from '../environment/file.ts';
import { unreadableFile } from '../passphrase.ts';
import { platformPaths, resolvePlatformDirectory } from '../paths.ts';
import { parseYamlFile, readYamlFile, type YamlValue } from '../yaml/file.ts';
import { WRONG } from './kinds.ts';
import { flagName, type SettingRow } from './row.ts';
import type { Origin, SettingSource, Settings, ValuesOf } from './settings.ts';
import { SETTINGS, type SettingName } from './table.ts';

/** The sources of the settings. Default: the process and its platform directory. */
export interface LoadOptions<Name extends string = SettingName> {
  /** The value of `--dir`. */
  dir?: string | undefined;
  /** Values of flags, by the name of their setting. */
  flags?: Partial<Record<Name, string>>;
  env?: NodeJS.ProcessEnv;
  cwd?: string;
  /** Content that replaces the directory's own file. idkit then does not read that file. */
  contents?: { env?: GivenContent; yaml?: GivenContent };
}

/** The content of a settings file, for example from a backup set. */
export interface GivenContent {
  /** The name for messages. */
  file: string;
  bytes: Uint8Array;
}

/** A value before it is checked. */
interface Given {
  value: unknown;
  source: SettingSource;
  /** Describes the origin of the value in messages. */
  place: string;
}

interface Sources {
  flags: Readonly<Record<string, string | undefined>>;
  env: NodeJS.ProcessEnv;
  envFile: EnvValues;
  yaml: ReadonlyMap<string, YamlValue> | undefined;
  yamlFile: string;
  dir: string;
}

/**
 * Loads all effective settings. The order of precedence is: flag, process environment, `.env`, idkit.yaml, default. An
 * empty variable counts as not set. The call writes nothing, and the directory need not exist.
 *
 * @throws IDKIT_SETTING, or IDKIT_USAGE for a flag, with the setting, its origin and the expected value;
 *   IDKIT_ENV_READABLE; IDKIT_DIRECTORY_MISSING if the path is not a directory
 */
export async function loadSettings(options: LoadOptions = {}): Promise<Settings> {
  const settings: Settings = await loadRows(SETTINGS, options);
  checkTogether(settings);
  return settings;
}

/** Loads the settings of a table as `loadSettings` does, but does not check settings against each other. */
export async function loadRows<const Rows extends readonly SettingRow[]>(
  rows: Rows,
  options: LoadOptions<Rows[number]['name']> = {},
): Promise<Origin & ValuesOf<Rows>> {
  const env = options.env ?? process.env;
  const cwd = options.cwd ?? process.cwd();
  const dir = resolvePlatformDirectory({ flag: options.dir, env, cwd });
  const paths = platformPaths(dir);
  const { contents } = options;
  const sources: Sources = {
    flags: options.flags ?? {},
    env,
    dir,
    envFile: contents?.env === undefined ? readEnvFile(paths.env, rows) : readGivenEnv(contents.env, rows),
    yaml:
      contents?.yaml === undefined
        ? await readYamlFile(paths.yaml, rows)
        : await parseYamlFile(contents.yaml.bytes, contents.yaml.file, rows),
    yamlFile: contents?.yaml?.file ?? paths.yaml,
  };
  const isKeycloak = sources.yaml?.get('service')?.value === 'keycloak';
  const values: Record<string, unknown> = {};
  const origins: Record<string, SettingSource> = {};
  for (const row of rows) {
    const given = findGiven(row, sources) ?? (isKeycloak ? findKeycloakValue(row, sources) : undefined);
    origins[row.name] = given?.source ?? 'default';
    put(
      values,
      row.key ?? row.name,
      readValue(row, given, { dir, place: given?.source === 'flag' ? cwd : dir }),
    );
  }
  const origin: Origin = {
    dir,
    exists: sources.yaml !== undefined,
    environment: foreignVariables(sources),
    sources: origins,
  };
  // The cast is safe, because the kind of each row has read its value.
  return { ...origin, ...values } as Origin & ValuesOf<Rows>;
}

function readGivenEnv({ bytes, file }: GivenContent, rows: readonly SettingRow[]): EnvValues {
  const values = parseEnvContent(bytes, file);
  checkEnvKeys(values, file, rows);
  return values;
}

function foreignVariables({ env, envFile }: Sources): ReadonlyMap<string, string> {
  const foreign = [...envFile].filter(([key]) => !key.startsWith('IDKIT_'));
  return new Map(foreign.map(([key, value]) => [key, env[key] || value]));
}

/** Returns the value with the highest precedence, or undefined if the setting is not given. */
function findGiven(row: SettingRow, sources: Sources): Given | undefined {
  const flag = sources.flags[row.name];
  if (flag !== undefined) return { value: flag, source: 'flag', place: flagOf(row) };
  for (const source of ['environment', '.env'] as const) {
    const given = findVariable(row, source, sources);
    if (given !== undefined) return given;
  }
  const written = sources.yaml?.get(row.name);
  if (written === undefined) return undefined;
  const place = `${sources.yamlFile} line ${written.line}: ${row.name}`;
  return { value: written.value, source: 'idkit.yaml', place };
}

function findVariable(
  { env: variable, fileEnv }: SettingRow,
  source: 'environment' | '.env',
  { env, envFile, dir }: Sources,
): Given | undefined {
  const valueIn = (name: string) => (source === '.env' ? envFile.get(name) : env[name]);
  const value = variable === undefined ? undefined : valueIn(variable);
  if (value) return { value, source, place: source === '.env' ? `.env: ${variable}` : `${variable}` };
  // A `…_FILE` variable of the process environment takes precedence over .env, even if its file is empty.
  if (fileEnv === undefined || (source === '.env' && env[fileEnv])) return undefined;
  const file = valueIn(fileEnv);
  return file ? readValueFile(fileEnv, file, dir) : undefined;
}

function flagOf(row: SettingRow): string {
  const [form] = Object.values(row.flags ?? {});
  return form === undefined ? row.name : flagName(form);
}

/** Reads the first line of the file that a `…_FILE` variable names. Returns undefined if the line is empty. */
function readValueFile(variable: string, file: string, dir: string): Given | undefined {
  try {
    const [value = ''] = readFileSync(isAbsolute(file) ? file : join(dir, file), 'utf8').split(/\r?\n/);
    return value === '' ? undefined : { value, source: 'file', place: `the file that ${variable} names` };
  } catch (error) {
    throw unreadableFile(variable, file, error);
  }
}

/**
 * Reads a setting from Keycloak's own variable, for `service: keycloak`. The operator then need not repeat the value
 * under idkit's name, and backups of other tools contain only Keycloak's names. idkit's variables take precedence.
 */
function findKeycloakValue(row: SettingRow, { env, envFile }: Sources): Given | undefined {
  const { keycloakEnv: variable, fileEnv } = row;
  if (variable === undefined) return undefined;
  if (fileEnv !== undefined && (env[fileEnv] || envFile.get(fileEnv))) return undefined;
  if (env[variable]) return { value: env[variable], source: 'environment', place: variable };
  const value = envFile.get(variable);
  return value ? { value, source: '.env', place: `.env: ${variable}` } : undefined;
}

function readValue(
  row: SettingRow,
  given: Given | undefined,
  bases: { dir: string; place: string },
): unknown {
  const { kind } = row;
  if (given === undefined) return kind.read(row.default, bases);
  const isText = given.source !== 'idkit.yaml' && typeof given.value === 'string';
  const raw = isText && kind.fromText !== undefined ? kind.fromText(String(given.value)) : given.value;
  const value = kind.read(raw, bases);
  if (value !== WRONG) return value;
  const hint = kind.hint?.(raw);
  throw new IdkitError(
    given.source === 'flag' ? 'IDKIT_USAGE' : 'IDKIT_SETTING',
    `${given.place} must be ${kind.expected}${kind.hidden ? '' : quote(given.value)}`,
    hint === undefined ? {} : { hints: [hint] },
  );
}

function quote(value: unknown): string {
  const shown = JSON.stringify(value) ?? 'nothing';
  return `, not ${shown.length > 80 ? `${shown.slice(0, 80)}…` : shown}`;
}

/** Sets the value at a dotted name. */
function put(values: Record<string, unknown>, key: string, value: unknown): void {
  const [group = key, ...rest] = key.split('.');
  if (rest.length === 0) {
    values[group] = value;
    return;
  }
  const below = { ...Object(values[group]) };
  put(below, rest.join('.'), value);
  values[group] = below;
}

/** Rejects settings that contradict each other. */
function checkTogether({ listen }: Settings): void {
  const { tlsCert, tlsKey, port, managementPort } = listen;
  if (port === managementPort && port !== 0) {
    throw new IdkitError('IDKIT_SETTING', `listen.port and listen.managementPort are both ${port}`, {
      hints: ['choose another port with --management-port; 0 chooses a free one'],
    });
  }
  if ((tlsCert === null) !== (tlsKey === null)) {
    const missing = tlsCert === null ? 'listen.tlsCert' : 'listen.tlsKey';
    throw new IdkitError(
      'IDKIT_SETTING',
      `listen.tlsCert and listen.tlsKey must be set together, but ${missing} is missing`,
      {
        hints: ['set both --tls-cert and --tls-key, or neither'],
      },
    );
  }
}
