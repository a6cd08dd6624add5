import type { Kind } from './kinds.ts';
import type { SETTINGS } from './table.ts';

/** The sources of a setting's value, in order of precedence. `file` is the file that a `…_FILE` variable names. */
export type SettingSource = 'flag' | 'environment' | '.env' | 'file' | 'idkit.yaml' | 'default';

type KeyOf<Row> = Row extends { key: infer Key extends string }
  ? Key
  : Row extends { name: infer Name extends string }
    ? Name
    : never;
type ValueOf<Row> = Row extends { kind: Kind<infer Value> } ? Value : never;
type Place<Key extends string, Value> = Key extends `${infer Group}.${infer Rest}`
  ? Record<Group, Place<Rest, Value>>
  : Record<Key, Value>;
type PlaceOf<Row> = Row extends unknown ? Place<KeyOf<Row>, ValueOf<Row>> : never;
type AllOf<Union> = (Union extends unknown ? (one: Union) => void : never) extends (all: infer All) => void
  ? All
  : never;

/** The values of some rows. Each is at its dotted name: `listen.port` is `values.listen.port`. */
export type ValuesOf<Rows extends readonly unknown[]> = AllOf<PlaceOf<Rows[number]>>;

/** The facts about a platform directory that are not values of settings. */
export interface Origin {
  /** The absolute path of the platform directory. */
  dir: string;
  /** Whether the directory contains an idkit.yaml. */
  exists: boolean;
  /**
   * The variables of `.env` that do not belong to idkit, for compose.yaml. The process environment takes precedence.
   */
  environment: ReadonlyMap<string, string>;
  /** The source of each setting by its name in the table. */
  sources: Readonly<Record<string, SettingSource>>;
}

/** All effective settings of one platform directory. Paths are absolute. `SETTINGS` documents each value. */
export type Settings = Origin &
  ValuesOf<typeof SETTINGS> & {
    /** With `off`, the service is isolated and sends no requests. */
    outbound: { off?: true };
  };

/** The paths of the files and directories in a platform directory. */
export interface PlatformPaths {
  dir: string;
  yaml: string;
  env: string;
  config: string;
  import: string;
  data: string;
  compose: string;
}
