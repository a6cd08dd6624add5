import { flagName, isEnvironmentOnly, type SettingRow } from './row.ts';
import type { Origin, SettingSource } from './settings.ts';
import { SETTINGS } from './table.ts';

/** One setting as the reference shows it. */
export interface SettingDoc {
  name: string;
  env?: string;
  /** The name of the flag in the first command that has one. */
  flag?: string;
  /** Set if only the environment and `.env` can set it, not idkit.yaml. */
  environmentOnly?: true;
  default: unknown;
  /** Completes the sentence "NAME must be …". */
  expected: string;
  reason: string;
  doc: string;
}

/** Returns all settings for the reference, in the order of the table. */
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

/** One line of `idkit config show`. The value of a secret is `[secret]`, or null if it is not set. */
export interface ShownSetting {
  name: string;
  value: unknown;
  source: SettingSource;
  doc: string;
}

/** Returns each effective setting with its source, and hides secrets. */
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
