// Config: settings from flags, environment, .env and idkit.yaml.
// Owns: one schema with defaults, sources and doc lines; the platform directory's paths; the passphrase.
// Must not know: what the settings are used for.
// Start at settings.ts.
export type { Application, PlatformPaths, SettingSource, Settings } from './settings.ts';
