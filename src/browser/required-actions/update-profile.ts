import type { User } from '../../model/index.ts';
import {
  type FieldFault,
  listProfileFields,
  type ProfileField,
  saveProfile,
} from '../../protocol/profile/index.ts';
import { type BrowserCall, startEvent } from '../call.ts';
import type { Message, PageField } from '../contract.ts';
import type { LoginInProgress } from '../login/progress.ts';
import type { RequiredAction } from './required-action.ts';

/** Required actions that are done when the user has saved a complete profile. */
const ENDED = ['UPDATE_PROFILE', 'VERIFY_PROFILE'];
const USUAL = new Set(['username', 'email', 'firstName', 'lastName']);

/** UPDATE_PROFILE and VERIFY_PROFILE: ask for the user's own data and check it against the realm's user profile. */
export const updateProfile: RequiredAction = {
  message: 'updateProfileMessage',

  show: (call, { user }, action, faults) => ({
    page: 'update-profile',
    action,
    fields: listShownFields(call, user, faults),
  }),

  async submit(call, login) {
    const { ctx, configuration, request } = call;
    const event = startEvent(call, 'UPDATE_PROFILE', login.client);
    event.userId = login.user.id;
    event.details['username'] = login.user.username;
    const saved = await saveProfile(ctx, configuration, login.user.id, request.form, ENDED);
    if (saved.outcome === 'gone') {
      event.failed('user_not_found');
      return { outcome: 'again', message: { kind: 'error', key: 'accountChangedMessage' } };
    }
    if (saved.outcome === 'refused') {
      event.details['fields'] = saved.faults.map(({ field }) => field).join(',');
      event.failed('invalid_user_data');
      return {
        outcome: 'again',
        message: { kind: 'error', key: 'updateProfileMessage' },
        faults: saved.faults,
      };
    }
    addChanges(event.details, saved.before, saved.user);
    event.succeeded();
    return { outcome: 'done', login: { user: saved.user } satisfies Partial<LoginInProgress> };
  },
};

/** Returns the fields of a user's own data for a page. After an invalid form, they have the submitted values. */
export function listShownFields(
  call: BrowserCall,
  user: User,
  faults: readonly FieldFault[] | undefined,
): readonly PageField[] {
  return listProfileFields(call.configuration, user).map((field) => {
    const fault = faults?.find((one) => one.field === field.name);
    const sent = field.readOnly || faults === undefined ? undefined : call.request.form.get(field.name);
    return {
      name: field.name,
      label: labelOf(field),
      value: sent ?? field.value,
      required: field.required,
      readOnly: field.readOnly,
      ...(fault === undefined ? {} : { fault: messageOf(fault) }),
    };
  });
}

/** Adds the changes to the details of an event `UPDATE_PROFILE` (docs/keycloak/realms.md#events). */
export function addChanges(details: Record<string, string>, before: User, after: User): void {
  const names = { email: 'email', firstName: 'first_name', lastName: 'last_name' } as const;
  for (const [field, name] of Object.entries(names) as ['email' | 'firstName' | 'lastName', string][]) {
    if (before[field] === after[field]) continue;
    if (before[field] !== undefined) details[`previous_${name}`] = before[field];
    if (after[field] !== undefined) details[`updated_${name}`] = after[field];
  }
}

/**
 * Returns the label of a field. By default, this is the field's name. A name or `${key}` of a usual field refers to a
 * text of the pages. Any other label is shown unchanged.
 */
function labelOf({ name, displayName }: ProfileField): Message {
  const key = displayName === undefined ? name : /^\$\{(\w+)\}$/.exec(displayName)?.[1];
  if (key !== undefined && USUAL.has(key)) return { key };
  return { key: 'ownLabel', values: { text: displayName ?? name } };
}

function messageOf({ key, values }: FieldFault): Message {
  return values === undefined ? { key } : { key, values };
}
