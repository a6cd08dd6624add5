import { type FieldFault, saveProfile } from '../../protocol/profile/index.ts';
import { addChanges, listShownFields } from '../required-actions/update-profile.ts';
import { accountEndpoint } from './account-endpoint.ts';
import type { AccountCall, AccountRules, ShowOptions } from './account-page.ts';
import {
  accountFrame,
  answerDenied,
  answerDone,
  showAccountPage,
  startAccountEvent,
} from './account-page.ts';

const rules: AccountRules = {
  name: 'profile',
  show: async (account, options) => show(account, options),

  async submit(account) {
    const { ctx, configuration, request, sso, rights } = account;
    if (!rights.change) return answerDenied(account);
    const event = startAccountEvent(account, 'UPDATE_PROFILE');
    const saved = await saveProfile(ctx, configuration, sso.user.id, request.form, []);
    if (saved.outcome === 'gone') {
      event.failed('user_not_found');
      return show(account, {
        name: 'account-form-outdated',
        message: { kind: 'error', key: 'accountFormOutdatedMessage' },
      });
    }
    if (saved.outcome === 'refused') {
      event.details['fields'] = saved.faults.map(({ field }) => field).join(',');
      event.failed('invalid_user_data');
      const message = { kind: 'error', key: 'accountNotUpdatedMessage' } as const;
      return show(account, { message }, saved.faults);
    }
    addChanges(event.details, saved.before, saved.user);
    event.succeeded();
    return answerDone(account, 'accountUpdatedMessage');
  },
};

/** The page `/account/`, which shows and changes the user's own data according to the realm's user profile. */
export const accountProfile = accountEndpoint(rules);

/** @param faults the faults of the submitted form, whose values the page shows again */
function show(account: AccountCall, options?: ShowOptions, faults?: readonly FieldFault[]) {
  const fields = listShownFields(account, account.sso.user, faults).map((field) =>
    account.rights.change ? field : { ...field, readOnly: true },
  );
  return showAccountPage(
    account,
    { page: 'account-profile', account: accountFrame(account), fields },
    options,
  );
}
