import { flagName, isEnvironmentOnly, type SettingRow } from './row.ts';
import type { Origin, SettingSource } from './settings.ts';
import { SETTINGS } from './table.ts';

/** One setting for the reference of settings. */
export interface SettingDoc {
  name: string;
  env?: string;
  /** The flag's name in the first command that has one. */
  flag?: string;
  /** Set if the environment or `.env` may set it, but idkit.yaml may not. */
  environmentOnly?: true;
  default: unknown;
  /** The end of the sentence "… must be". */
  expected: string;
  reason: string;
  doc: string;
}

/** Every setting for the reference, in the order of the table. */
export function settingDocs(rows: readonly SettingRow[] = SETTINGS): readonly SettingDoc[] {
  return rows.map((row) => {
    const [flag] = Object.values(row.flags ?? {});
    return {
      name: row.name,
      ...(row.env === undefined ? {} : { env: row.env }),
      ...(flag === undefined ? {} : { flag: flagName(flag) }),
      ...(isEnvironmentOnly(row) ? { environmentOnly: true as const } : {}),
      default: row.default,
      expected: row.kind.expected,
      reason: row.reason,
      doc: row.doc,
    };
  });
}

/** One line of `idkit config show`. The value of a secret is `[secret]`, or null if none is set. */
export interface ShownSetting {
  name: string;
  value: unknown;
  source: SettingSource;
  doc: string;
}

/** Each effective setting with its source; secrets stay hidden. */
export function showSettings(
  settings: Origin,
  rows: readonly SettingRow[] = SETTINGS,
): readonly ShownSetting[] {
  return rows.map((row) => {
    const value = valueAt(settings, row.key ?? row.name);
    return {
      name: row.name,
      value: (row.kind.show === undefined ? value : row.kind.show(value)) ?? null,
      source: settings.sources[row.name] ?? 'default',
      doc: row.doc,
    };
  });
}

function valueAt(settings: object, key: string): unknown {
  return key.split('.').reduce<unknown>((value, part) => Reflect.get(Object(value), part), settings);
}
