import { parseJsonObject } from '../../core/index.ts';
import type { RealmCall } from '../call/context.ts';
import type { Json } from '../representation/json.ts';

const PROVIDER = 'org.keycloak.userprofile.UserProfileProvider';

const EVERYONE = { view: ['admin', 'user'], edit: ['admin', 'user'] };
const REQUIRED = { required: { roles: ['user'] } };

/** The user profile of a realm without its own one, as Keycloak 26 returns it. */
const DEFAULT_PROFILE: Json = {
  attributes: [
    defaultAttribute('username', {
      length: { min: 3, max: 255 },
      'username-prohibited-characters': {},
      'up-username-not-idn-homograph': {},
    }),
    { ...defaultAttribute('email', { email: {}, length: { max: 255 } }), ...REQUIRED },
    { ...defaultAttribute('firstName', nameRules()), ...REQUIRED },
    { ...defaultAttribute('lastName', nameRules()), ...REQUIRED },
  ],
  groups: [
    {
      name: 'user-metadata',
      displayHeader: 'User metadata',
      displayDescription: 'Attributes, which refer to user metadata',
    },
  ],
};

function defaultAttribute(name: string, validations: Json): Json {
  return { name, displayName: `\${${name}}`, validations, permissions: EVERYONE, multivalued: false };
}

function nameRules(): Json {
  return { length: { max: 255 }, 'person-name-prohibited-characters': {} };
}

/**
 * Returns the realm's user profile: the definitions of the attributes of its users (docs/keycloak/users.md#user-profile).
 */
export function showProfile({ configuration }: RealmCall): Json {
  const stored = configuration.components.find(({ providerType }) => providerType === PROVIDER)?.config[
    'kc.user.profile.config'
  ]?.[0];
  // A realm file may contain broken JSON. The login then uses the default profile too.
  return (stored === undefined ? undefined : parseJsonObject(stored)) ?? DEFAULT_PROFILE;
}
