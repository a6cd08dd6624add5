import type { Random } from '../../core/index.ts';
import type { Kind } from './kinds.ts';

/** One row of the table of settings. */
export interface SettingRow<Value = unknown> {
  /** The dotted name in idkit.yaml. For a setting that only the environment has, the name of its variable. */
  name: string;
  /** The dotted place in `Settings`. Default: the name. */
  key?: string;
  /** The environment variable, which `.env` may set too. */
  env?: string;
  /** A variable that names a file; the first line of the file is the value. */
  fileEnv?: string;
  /** The variable that has the value in an environment of Keycloak; read with `service: keycloak`. */
  keycloakEnv?: string;
  /** The flag by the command that has it, as commander writes it: `--port <number>`. */
  flags?: Readonly<Record<string, string>>;
  kind: Kind<Value>;
  /** In the form of idkit.yaml. Undefined for a secret, which has no default. */
  default: unknown;
  /** What `idkit init` writes into a new `.env`. */
  initial?: {
    value(random: Random): string;
    /** The value is random, so init marks it in `.env` and lists it. */
    generated?: true;
    /** Written for this runtime only. */
    runtime?: 'compose';
  };
  /** Why the default is what it is. */
  reason: string;
  /** One line of documentation. */
  doc: string;
}

/** True for a setting that no idkit.yaml may hold. */
export function isEnvironmentOnly(row: SettingRow): boolean {
  return row.name === row.env;
}

/** The variables of a setting that `.env` may set. */
export function variablesOf(row: SettingRow): readonly string[] {
  return [row.env, row.fileEnv].filter((variable) => variable !== undefined);
}

/** The name in a flag's form: `--port` of `--port <number>`. */
export function flagName(form: string): string {
  return form.split(' ')[0] ?? form;
}
