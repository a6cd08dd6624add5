import type { User } from '../model/index.ts';
import type { RealmConfiguration } from '../store/index.ts';

const PROFILE_PROVIDER = 'org.keycloak.userprofile.UserProfileProvider';
const required = new WeakMap<RealmConfiguration, readonly string[]>();

/**
 * Names of required attributes that the user lacks; any of them makes VERIFY_PROFILE pending (facts §10, "User
 * profile").
 */
export function listMissingAttributes(configuration: RealmConfiguration, user: User): readonly string[] {
  let names = required.get(configuration);
  if (names === undefined) {
    names = requiredAttributes(configuration);
    required.set(configuration, names);
  }
  return names.filter((name) => !valuesOf(user, name).some((value) => value.trim() !== ''));
}

function valuesOf(user: User, name: string): readonly string[] {
  switch (name) {
    case 'username':
      return [user.username];
    case 'email':
      return [user.email ?? ''];
    case 'firstName':
      return [user.firstName ?? ''];
    case 'lastName':
      return [user.lastName ?? ''];
    default:
      return Object.hasOwn(user.attributes, name) ? (user.attributes[name] ?? []) : [];
  }
}

/** From the realm's own user profile, else Keycloak's: master asks for the username alone. */
function requiredAttributes(configuration: RealmConfiguration): readonly string[] {
  const own = configuration.components.find((component) => component.providerType === PROFILE_PROVIDER)
    ?.config['kc.user.profile.config']?.[0];
  const parsed = own === undefined ? undefined : parseProfile(own);
  if (parsed !== undefined) return parsed;
  if (configuration.realm.name === 'master') return ['username'];
  return ['username', 'email', 'firstName', 'lastName'];
}

interface ProfileAttribute {
  name?: unknown;
  required?: { roles?: readonly unknown[]; scopes?: readonly unknown[] } | null;
}

/** Attributes that users themselves must have at every login: `required` for users and not for certain scopes. */
function parseProfile(text: string): readonly string[] | undefined {
  try {
    const profile = JSON.parse(text) as { attributes?: readonly ProfileAttribute[] } | null;
    if (!Array.isArray(profile?.attributes)) return undefined;
    return (profile.attributes as readonly ProfileAttribute[]).flatMap((attribute) => {
      const rule = attribute.required;
      if (typeof attribute.name !== 'string' || rule === undefined || rule === null) return [];
      const forUsers = !rule.roles?.length || rule.roles.includes('user');
      return forUsers && !rule.scopes?.length ? [attribute.name] : [];
    });
  } catch {
    return undefined;
  }
}
