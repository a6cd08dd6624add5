import { jsonFields, parseJsonObject } from '../../core/index.ts';
import type { User } from '../../model/index.ts';
import type { RealmConfiguration } from '../../store/index.ts';

const PROFILE_PROVIDER = 'org.keycloak.userprofile.UserProfileProvider';

/** The rules of a profile attribute that apply to users (docs/keycloak/users.md#errors). */
export interface ProfileAttribute {
  name: string;
  /** The label in the profile: a text, or `${key}` for a message of the pages. */
  displayName?: string;
  /** Whether every login requires a value. */
  required: boolean;
  visible: boolean;
  editable: boolean;
  /** Settings by validator. */
  validations: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

const known = new WeakMap<RealmConfiguration, readonly ProfileAttribute[]>();

/**
 * Returns the attributes of the realm's user profile. Default: those of Keycloak, of which the master realm requires
 * only the username.
 */
export function listProfileAttributes(configuration: RealmConfiguration): readonly ProfileAttribute[] {
  let attributes = known.get(configuration);
  if (attributes === undefined) {
    const own = configuration.components.find((component) => component.providerType === PROFILE_PROVIDER)
      ?.config['kc.user.profile.config']?.[0];
    attributes = (own === undefined ? undefined : parseProfile(own)) ?? usualProfile(configuration);
    known.set(configuration, attributes);
  }
  return attributes;
}

/**
 * Lists the required attributes that the user lacks. If there are any, VERIFY_PROFILE is pending
 * (docs/keycloak/login.md#required-actions).
 */
export function listMissingAttributes(configuration: RealmConfiguration, user: User): readonly string[] {
  return listProfileAttributes(configuration)
    .filter(({ name, required }) => required && !valuesOf(user, name).some((value) => value.trim() !== ''))
    .map(({ name }) => name);
}

/** Returns the user's values of a profile attribute. */
export function valuesOf(user: User, name: string): readonly string[] {
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

function usualProfile({ realm }: RealmConfiguration): readonly ProfileAttribute[] {
  return ['username', 'email', 'firstName', 'lastName'].map((name) => ({
    name,
    required: name === 'username' || realm.name !== 'master',
    visible: true,
    editable: true,
    validations: name === 'username' ? { 'up-username-not-idn-homograph': {} } : {},
  }));
}

interface WrittenAttribute {
  name?: unknown;
  displayName?: unknown;
  required?: { roles?: readonly unknown[]; scopes?: readonly unknown[] } | null;
  permissions?: { view?: readonly unknown[]; edit?: readonly unknown[] } | null;
  validations?: Readonly<Record<string, unknown>> | null;
}

function parseProfile(text: string): readonly ProfileAttribute[] | undefined {
  try {
    const attributes = parseJsonObject(text)?.['attributes'];
    return Array.isArray(attributes) ? attributes.flatMap(readAttribute) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Reads one attribute of a profile. Ignores an attribute without a name. The attribute is required at every login if
 * `required` applies to users and is not limited to scopes.
 */
function readAttribute(attribute: WrittenAttribute): readonly ProfileAttribute[] {
  const { name, displayName, required, permissions } = attribute;
  if (typeof name !== 'string') return [];
  const rule = required ?? undefined;
  const forUsers = rule !== undefined && (!rule.roles?.length || rule.roles.includes('user'));
  const editable = permissions?.edit?.includes('user') ?? false;
  return [
    {
      name,
      ...(typeof displayName === 'string' && displayName !== '' ? { displayName } : {}),
      required: forUsers && !rule?.scopes?.length,
      visible: editable || (permissions?.view?.includes('user') ?? false),
      editable,
      validations: readValidations(attribute.validations),
    },
  ];
}

function readValidations(written: WrittenAttribute['validations']): ProfileAttribute['validations'] {
  if (typeof written !== 'object' || written === null) return {};
  return Object.fromEntries(Object.entries(written).map(([name, config]) => [name, jsonFields(config)]));
}
