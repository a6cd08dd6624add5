import { inTurn, untilApplied } from '../../core/index.ts';
import { matchPatterns } from '../../crypto/index.ts';
import { listProfileFaults, type ProfileFault, type User, userTurn } from '../../model/index.ts';
import type { RealmConfiguration, Stale } from '../../store/index.ts';
import type { ProtocolContext } from '../context.ts';
import { listProfileAttributes, type ProfileAttribute, valuesOf } from './user-profile.ts';
import { findAttributeFault, listPatternChecks } from './validators.ts';

/** A field of the form in which users see and change their own data. */
export interface ProfileField {
  name: string;
  /** The label in the realm's profile. Absent if the profile has none, as in the default profile. */
  displayName?: string;
  value: string;
  required: boolean;
  readOnly: boolean;
}

/** Why the value of a field is invalid. `key` is one of Keycloak's message keys. */
export interface FieldFault {
  field: string;
  key: string;
  values?: Readonly<Record<string, string>>;
}

/** The result of submitting the form. `gone`: the user was deleted in the meantime. */
export type ProfileChange =
  | { outcome: 'saved'; user: User; before: User }
  | { outcome: 'refused'; faults: readonly FieldFault[] }
  | { outcome: 'gone' };

/** Lists the fields that the user may see, in the profile's order. */
export function listProfileFields(configuration: RealmConfiguration, user: User): readonly ProfileField[] {
  return listProfileAttributes(configuration)
    .filter(({ visible }) => visible)
    .map((attribute) => ({
      name: attribute.name,
      ...(attribute.displayName === undefined ? {} : { displayName: attribute.displayName }),
      value: valuesOf(user, attribute.name)[0] ?? '',
      required: attribute.required,
      readOnly: isReadOnly(configuration, attribute),
    }));
}

/**
 * Saves the fields that the user may change, and removes the required actions in `clear` from the user. A changed
 * e-mail address becomes unverified.
 *
 * @param clear required actions that a complete profile fulfils
 */
export async function saveProfile(
  ctx: ProtocolContext,
  configuration: RealmConfiguration,
  userId: string,
  form: ReadonlyMap<string, string>,
  clear: readonly string[],
): Promise<ProfileChange> {
  const { id: realmId } = configuration.realm;
  const save = async (): Promise<ProfileChange | Stale> => {
    const before = await ctx.store.findUser(realmId, userId);
    if (before === undefined) return { outcome: 'gone' };
    const user = withFields(configuration, before, form);
    const requiredActions = user.requiredActions.filter((action) => !clear.includes(action));
    const faults = await listFaults(configuration, user, before);
    if (faults.length === 0) faults.push(...(await findTakenNames(ctx, user, before)));
    if (faults.length > 0) return { outcome: 'refused', faults };
    const applied = await ctx.store.apply([{ do: 'put', user: { ...user, requiredActions } }]);
    if (applied.outcome === 'stale') return applied;
    if (applied.outcome === 'missing') return { outcome: 'gone' };
    if (applied.outcome === 'conflict') {
      const field = applied.on === 'user.email' ? 'email' : 'username';
      return { outcome: 'refused', faults: [{ field, key: `${field}ExistsMessage` }] };
    }
    return { outcome: 'saved', user: { ...user, requiredActions }, before };
  };
  return inTurn(ctx.store, userTurn(userId), () => untilApplied(save));
}

function withFields(
  configuration: RealmConfiguration,
  before: User,
  form: ReadonlyMap<string, string>,
): User {
  let user = before;
  for (const attribute of listProfileAttributes(configuration)) {
    const sent = form.get(attribute.name);
    if (sent === undefined || !attribute.visible || isReadOnly(configuration, attribute)) continue;
    // The form shows only the first value of a field. If the user does not change it, the field keeps all its values.
    if (sent === (valuesOf(before, attribute.name)[0] ?? '')) continue;
    user = withValue(user, attribute.name, sent.trim());
  }
  const changed = user.email !== before.email;
  return changed ? { ...user, emailVerified: false } : user;
}

function withValue(user: User, name: string, value: string): User {
  switch (name) {
    case 'username':
      return { ...user, username: value.toLowerCase() };
    case 'email': {
      const { email: _email, ...rest } = user;
      return value === '' ? rest : { ...rest, email: value.toLowerCase() };
    }
    case 'firstName': {
      const { firstName: _firstName, ...rest } = user;
      return value === '' ? rest : { ...rest, firstName: value };
    }
    case 'lastName': {
      const { lastName: _lastName, ...rest } = user;
      return value === '' ? rest : { ...rest, lastName: value };
    }
    default: {
      const { [name]: _own, ...attributes } = user.attributes;
      return { ...user, attributes: value === '' ? attributes : { ...attributes, [name]: [value] } };
    }
  }
}

/**
 * Reports an e-mail address that is another user's username, or a username that is another user's e-mail address. A
 * login searches both, so the other user could no longer log in.
 */
async function findTakenNames(
  { store }: ProtocolContext,
  { id, realmId, username, email }: User,
  before: User,
): Promise<readonly FieldFault[]> {
  const isTaken = (found: User | undefined) => found !== undefined && found.id !== id;
  if (
    email !== undefined &&
    email !== before.email &&
    isTaken(await store.findUserByUsername(realmId, email))
  )
    return [{ field: 'email', key: 'emailExistsMessage' }];
  if (username !== before.username && isTaken(await store.findUserByEmail(realmId, username)))
    return [{ field: 'username', key: 'usernameExistsMessage' }];
  return [];
}

async function listFaults(
  configuration: RealmConfiguration,
  user: User,
  before: User,
): Promise<FieldFault[]> {
  const attributes = listProfileAttributes(configuration);
  const missing = attributes.filter(
    ({ name, required }) => required && !valuesOf(user, name).some((value) => value.trim() !== ''),
  );
  const faults: FieldFault[] = missing.map(({ name }) => ({
    field: name,
    key: 'error-user-attribute-required',
  }));
  const { editUsernameAllowed } = configuration.realm.settings;
  for (const fault of listProfileFaults(user, before, { editUsernameAllowed }))
    faults.push(asFieldFault(fault));
  const changed = attributes.flatMap((attribute) => {
    const value = valuesOf(user, attribute.name)[0];
    const same = value === undefined || value === '' || value === valuesOf(before, attribute.name)[0];
    return same ? [] : [{ attribute, value }];
  });
  const matches = await matchPatterns(
    changed.flatMap(({ attribute, value }) => listPatternChecks(attribute, value)),
  );
  for (const { attribute, value } of changed) {
    const fault = findAttributeFault(attribute, value, matches);
    if (fault !== undefined) faults.push({ field: attribute.name, ...fault });
  }
  const seen = new Set<string>();
  return faults.filter(({ field }) => !seen.has(field) && seen.add(field));
}

function asFieldFault({ field, errorMessage, params }: ProfileFault): FieldFault {
  const [, min, max] = params;
  const values =
    errorMessage === 'error-invalid-length'
      ? { min: String(max), max: String(min) }
      : errorMessage === 'error-invalid-length-too-long'
        ? { min: String(min), max: String(max) }
        : {};
  return { field, key: errorMessage, values };
}

/**
 * Whether an attribute is read-only for users. The username is also read-only if the realm does not let users change
 * it, or if the e-mail address is the username.
 */
function isReadOnly({ realm }: RealmConfiguration, { name, editable }: ProfileAttribute): boolean {
  const { editUsernameAllowed, registrationEmailAsUsername } = realm.settings;
  if (name === 'username' && (!editUsernameAllowed || registrationEmailAsUsername)) return true;
  return !editable;
}
