import type { Random } from '../../core/index.ts';
import type { Kind } from './kinds.ts';

/** One row of the table of settings. */
export interface SettingRow<Value = unknown> {
  /** The dotted name in idkit.yaml. If only the environment can have the setting, the name of its variable. */
  name: string;
  /** The dotted name in `Settings`. Default: `name`. */
  key?: string;
  /** The environment variable. `.env` can set it too. */
  env?: string;
  /** The variable that names a file. The first line of the file is the value. */
  fileEnv?: string;
  /** Keycloak's variable for this value. idkit reads it with `service: keycloak`. */
  keycloakEnv?: string;
  /** Maps a command to its flag in commander's syntax: `--port <number>`. */
  flags?: Readonly<Record<string, string>>;
  kind: Kind<Value>;
  /** The default as idkit.yaml would contain it. Undefined for a secret, which has no default. */
  default: unknown;
  /** The value that `idkit init` writes to a new `.env`. */
  initial?: {
    value(random: Random): string;
    /** Set if the value is random. init then marks it in `.env` and lists it. */
    generated?: true;
    /** If set, init writes the value for this runtime only. */
    runtime?: 'compose';
  };
  /** Explains the default. */
  reason: string;
  /** Describes the setting in one line. */
  doc: string;
}

/** Reports whether only the environment and `.env` can have the setting, not idkit.yaml. */
export function isEnvironmentOnly(row: SettingRow): boolean {
  return row.name === row.env;
}

/** Returns the variables of a setting that `.env` can set. */
export function variablesOf(row: SettingRow): readonly string[] {
  return [row.env, row.fileEnv].filter((variable) => variable !== undefined);
}

/** Returns the name of a flag: `--port` for `--port <number>`. */
export function flagName(form: string): string {
  return form.split(' ')[0] ?? form;
}
