import type { SettingName } from '../settings/table.ts';
import type { EnvValues } from './file.ts';

/** What Keycloak's own variables say of the same things. */
const NAMES: readonly { setting: SettingName; variable: string; unless?: string }[] = [
  { setting: 'IDKIT_ADMIN_USERNAME', variable: 'KC_BOOTSTRAP_ADMIN_USERNAME' },
  { setting: 'IDKIT_ADMIN_PASSWORD', variable: 'KC_BOOTSTRAP_ADMIN_PASSWORD' },
  {
    setting: 'IDKIT_DATABASE_PASSWORD',
    variable: 'KC_DB_PASSWORD',
    unless: 'IDKIT_DATABASE_PASSWORD_FILE',
  },
];

/** A value that stands under Keycloak's name alone. */
interface NamedByKeycloak {
  setting: SettingName;
  variable: string;
  value: string;
  source: 'environment' | '.env';
}

/**
 * With `service: keycloak` a platform that Keycloak's own variables describe, as a backup made by other tools holds
 * them, needs no second set of names. idkit's own variables win.
 */
export function findKeycloakNames(env: NodeJS.ProcessEnv, envFile: EnvValues): readonly NamedByKeycloak[] {
  const found: NamedByKeycloak[] = [];
  for (const { setting, variable, unless } of NAMES) {
    if (unless !== undefined && (env[unless] || envFile.get(unless))) continue;
    const [given, kept] = [env[variable], envFile.get(variable)];
    if (given) found.push({ setting, variable, value: given, source: 'environment' });
    else if (kept) found.push({ setting, variable, value: kept, source: '.env' });
  }
  return found;
}
