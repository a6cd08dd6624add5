import { DEFAULT_SETTINGS } from '../../../src/admin/defaults/default-settings.ts';
import { buildSettings } from '../../../src/admin/realm/build-realm.ts';
import type { RealmSettings } from '../../../src/model/index.ts';

/** Returns the settings of a new, enabled realm, with these changes (docs/keycloak/realms.md#defaults). */
export function realmSettings(changes: Partial<RealmSettings> = {}): RealmSettings {
  return { ...buildSettings({ ...DEFAULT_SETTINGS, enabled: true }).rest, ...changes };
}
