import type { EnvValues } from './env-file.ts';
import type { SettingName } from './table.ts';

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
  return NAMES.flatMap(({ setting, variable, unless }) => {
    if (unless !== undefined && (env[unless] || envFile.get(unless))) return [];
    const given = env[variable];
    if (given) return [{ setting, variable, value: given, source: 'environment' as const }];
    const kept = envFile.get(variable);
    return kept ? [{ setting, variable, value: kept, source: '.env' as const }] : [];
  });
}
