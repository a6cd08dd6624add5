import { listContentFaults } from '../crypto/index.ts';
import { listPasswordRules, type PasswordRule, parsePasswordPolicy, type User } from '../model/index.ts';
import type { EventDraft } from '../protocol/index.ts';
import type { BrowserCall } from './call.ts';
import type { Message } from './contract.ts';
import type { RuleMessageKey } from './message-keys.ts';
import type { PageMessage } from './page-frame.ts';

/** A message about a new password. */
type PasswordMessage = Message & { key: RuleMessageKey };

/** The new password of a form, and everything that is wrong with it before it is compared with previous passwords. */
export interface NewPassword {
  password: string;
  faults: readonly PasswordMessage[];
  /** Keycloak's error for the event. Only with faults. */
  eventError: string;
}

/** Returns the messages for the rules of the realm's password policy, which the form shows before the user types. */
export function passwordRules({ configuration }: Pick<BrowserCall, 'configuration'>): readonly Message[] {
  return listPasswordRules(parsePasswordPolicy(configuration.realm.settings.passwordPolicy)).map(messageOf);
}

/**
 * Reads the fields `password-new` and `password-confirm`. If they differ, the content of the password is checked too, so
 * that the user sees all faults at once.
 */
export async function readNewPassword(call: BrowserCall, user: User): Promise<NewPassword> {
  const { form } = call.request;
  const password = form.get('password-new') ?? '';
  if (password === '')
    return { password, faults: [{ key: 'missingPasswordMessage' }], eventError: 'password_missing' };
  if (password === form.get('password-confirm')) return { password, faults: [], eventError: '' };
  const broken = await contentMessages(call, user, password);
  return {
    password,
    faults: [{ key: 'notMatchPasswordMessage' }, ...broken],
    eventError: 'password_confirm_error',
  };
}

/** Returns the messages for the rules that the content of a password violates. Ignores previous passwords. */
export async function contentMessages(
  { configuration }: BrowserCall,
  { username, email }: User,
  password: string,
): Promise<readonly PasswordMessage[]> {
  const candidate = { password, username, ...(email === undefined ? {} : { email }) };
  return (await listContentFaults(configuration.realm.settings.passwordPolicy, candidate)).map(messageOf);
}

/** Returns the messages for rules that a password violates, and adds the first one to the event as its reason. */
export function brokenRules(event: EventDraft, rules: readonly PasswordRule[]): readonly PasswordMessage[] {
  const messages = rules.map(messageOf);
  if (messages[0] !== undefined) event.details['reason'] = messages[0].key;
  return messages;
}

/** Returns the error message above a form that lists several faults. */
export function faultsMessage(faults: readonly PasswordMessage[]): PageMessage {
  const [first = { key: 'missingPasswordMessage' as const }, ...more] = faults;
  return { kind: 'error', ...first, ...(more.length === 0 ? {} : { more }) };
}

function messageOf({ key, params }: PasswordRule): PasswordMessage {
  const values = Object.fromEntries(params.map((value, index) => [String(index), String(value)]));
  return { key: key as RuleMessageKey, ...(params.length === 0 ? {} : { values }) };
}
