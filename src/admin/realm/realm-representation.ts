import type { RealmSettings } from '../../model/index.ts';
import type { RealmConfiguration } from '../../store/index.ts';
import { type Json, objects } from '../representation/json.ts';
import { putSecretsBack } from '../representation/secrets.ts';
import { roleRepresentation } from '../role/roles.ts';
import { SETTINGS } from './realm-settings.ts';

/** Fields of an export that `GET /admin/realms/{realm}` omits, see docs/keycloak/realms.md#representation. */
export const NOT_IN_GET: ReadonlySet<string> = new Set([
  'authenticationFlows',
  'authenticatorConfig',
  'requiredActions',
  'identityProviders',
  'identityProviderMappers',
  'localizationTexts',
  'federatedUsers',
  'organizations',
  'protocolMappers',
  'userFederationProviders',
  'userFederationMappers',
]);

/**
 * Returns a realm's representation, as in the response to `GET /admin/realms/{realm}`: the settings with masked
 * secrets, but no users, clients or flows.
 */
export function realmRepresentation(configuration: Pick<RealmConfiguration, 'realm' | 'roles'>): Json {
  const { realm } = configuration;
  const role = configuration.roles.get(realm.defaultRoleId);
  const all = settingsRepresentation(configuration, 'masked');
  const shown = Object.entries(all).filter(([name]) => !NOT_IN_GET.has(name));
  return Object.fromEntries([
    ['id', realm.id],
    ['realm', realm.name],
    ...shown,
    ...(role === undefined ? [] : [['defaultRole', roleRepresentation(role)] as const]),
  ]);
}

/**
 * Returns the settings of a realm, including stored fields that idkit does not use. Secrets are in the clear or masked.
 */
export function settingsRepresentation(
  { realm }: Pick<RealmConfiguration, 'realm'>,
  secrets: 'clear' | 'masked',
): Json {
  const { kept, eventsExpiration, ...settings } = realm.settings;
  const own = SETTINGS.flatMap((name) => {
    const value = (settings as Partial<RealmSettings>)[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const representation = Object.fromEntries<unknown>([
    ...own,
    ...(eventsExpiration === 0 ? [] : [['eventsExpiration', eventsExpiration] as const]),
    ...Object.entries(kept),
  ]);
  return putSecretsBack(representation, realm.secrets, secrets);
}

/** Returns the fields of a realm that Keycloak 26 shows to an administrator without `view-realm`. */
export function reducedRealmRepresentation({ realm }: RealmConfiguration): Json {
  const { settings } = realm;
  return {
    realm: realm.name,
    registrationEmailAsUsername: settings.registrationEmailAsUsername,
    bruteForceProtected: settings.bruteForceProtected,
    supportedLocales: settings.kept['supportedLocales'] ?? [],
    organizationsEnabled: settings.kept['organizationsEnabled'] ?? false,
  };
}

/** Returns the identity providers of a realm. idkit stores them but does not use them. */
export function identityProviders({ realm }: RealmConfiguration): readonly Json[] {
  return objects(settingsRepresentation({ realm }, 'masked')['identityProviders']);
}
