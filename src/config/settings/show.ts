import { Secret } from '../../core/index.ts';
import type { SettingSource, Settings } from './settings.ts';
import { settingDocs } from './table.ts';

/** One line of `idkit config show`. A secret's value is null where it is not set. */
export interface ShownSetting {
  name: string;
  value: unknown;
  source: SettingSource;
  doc: string;
}

/** Each effective setting with where it came from, secrets hidden (contract §2). */
export function showSettings(settings: Settings): readonly ShownSetting[] {
  const values: Record<string, unknown> = {
    IDKIT_ADMIN_USERNAME: settings.administrator.username,
    IDKIT_ADMIN_PASSWORD: settings.administrator.password,
    IDKIT_MASTER_KEY: settings.masterKey,
    IDKIT_MASTER_KEY_OLD: settings.masterKeyOld,
    IDKIT_DATABASE_PASSWORD: settings.databasePassword,
    IDKIT_SMOKE_CLIENT_SECRET: settings.smoke.clientSecret,
    database: showDatabase(settings),
  };
  return settingDocs().map((row) => {
    const value = row.name in values ? values[row.name] : pick(settings, row.name);
    return {
      name: row.name,
      value: value instanceof Secret ? value.toString() : (value ?? null),
      source: settings.sources[row.name] ?? 'default',
      doc: row.doc,
    };
  });
}

function showDatabase(settings: Settings): string {
  return settings.database.kind === 'sqlite' ? `sqlite:${settings.database.file}` : settings.database.url;
}

function pick(settings: Settings, name: string): unknown {
  let value: unknown = settings;
  for (const part of name.split('.')) value = (value as Record<string, unknown>)[part];
  return value;
}
