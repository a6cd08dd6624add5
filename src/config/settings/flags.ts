import { flagName, type SettingRow } from './row.ts';
import { SETTINGS, type SettingName } from './table.ts';

/** Values of flags from the command line, by the name of their setting. */
export type SettingFlags = Partial<Record<SettingName, string>>;

/** A command's flag that sets a setting. */
export interface SettingFlag {
  setting: string;
  /** The flag in commander's syntax: `--port <number>`. */
  form: string;
  description: string;
}

/** Returns the flags of a command that set settings, in the order of the table. */
export function flagsOfCommand(
  command: string,
  rows: readonly SettingRow[] = SETTINGS,
): readonly SettingFlag[] {
  return rows.flatMap((row) => {
    const form = row.flags?.[command];
    return form === undefined ? [] : [{ setting: row.name, form, description: describe(row) }];
  });
}

function describe({ doc, default: value }: SettingRow): string {
  const isPlain = typeof value === 'string' || typeof value === 'number';
  return isPlain ? `${doc} (default: ${value})` : doc;
}

/** Returns the flags that set settings from the flags that commander parsed. */
export function settingsFromFlags(
  command: string,
  parsed: Readonly<Record<string, unknown>>,
  rows: readonly SettingRow[] = SETTINGS,
): SettingFlags {
  const given = flagsOfCommand(command, rows).flatMap(({ setting, form }) => {
    const value = parsed[attributeOf(form)];
    return typeof value === 'string' ? [[setting, value] as const] : [];
  });
  return Object.fromEntries(given);
}

/** Returns the name under which commander stores a flag: `tlsCert` for `--tls-cert <file>`. */
function attributeOf(form: string): string {
  return flagName(form)
    .slice('--'.length)
    .replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
