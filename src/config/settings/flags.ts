import { flagName, type SettingRow } from './row.ts';
import { SETTINGS, type SettingName } from './table.ts';

/** Values of flags by the name of their setting, as the command line has them. */
export type SettingFlags = Partial<Record<SettingName, string>>;

/** A flag of one command that sets a setting. */
export interface SettingFlag {
  setting: string;
  /** As commander writes it: `--port <number>`. */
  form: string;
  description: string;
}

/** The flags of a command that set settings, in the order of the table. */
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

/** Picks the settings out of the flags that commander parsed for a command. */
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

/** The name under which commander keeps a flag: `tlsCert` of `--tls-cert <file>`. */
function attributeOf(form: string): string {
  return flagName(form)
    .slice('--'.length)
    .replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
