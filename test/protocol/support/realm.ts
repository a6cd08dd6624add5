import { DEFAULT_SETTINGS } from '../../../src/admin/defaults/default-settings.ts';
import { buildSettings } from '../../../src/admin/realm/build-realm.ts';
import type { RealmSettings } from '../../../src/model/index.ts';

/** A fresh realm's settings, enabled (facts §8.1, contract §5), with changes. */
export function realmSettings(changes: Partial<RealmSettings> = {}): RealmSettings {
  return { ...buildSettings({ ...DEFAULT_SETTINGS, enabled: true }).rest, ...changes };
}
