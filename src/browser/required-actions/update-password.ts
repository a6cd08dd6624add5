import { changePassword, onBehalfOf } from '../../protocol/login/index.ts';
import { startEvent } from '../call.ts';
import { withStage } from '../login/stage.ts';
import type { RuleMessageKey } from '../message-keys.ts';
import type { PageMessage } from '../page-frame.ts';
import type { ActionResult, RequiredAction } from './required-action.ts';

/**
 * UPDATE_PASSWORD: asks for a new password twice. The change ends all sessions of the user and all logins in progress,
 * this one included (docs/keycloak/sessions.md#what-ends-a-session). The user is present, so this login continues under
 * a new id and gets a new session.
 */
export const updatePassword: RequiredAction = {
  message: 'updatePasswordMessage',

  show: (_call, { user }, action) => ({
    page: 'update-password',
    action,
    username: user.username,
    logoutSessions: true,
  }),

  async submit(call, login) {
    const { ctx, configuration, request, now } = call;
    const { client, user } = login;
    const password = request.form.get('password-new') ?? '';
    const event = startEvent(call, 'UPDATE_PASSWORD', client);
    event.userId = user.id;
    event.details['username'] = user.username;
    const again = (key: RuleMessageKey, eventError: string, values?: PageMessage['values']): ActionResult => {
      event.failed(eventError);
      return {
        outcome: 'again',
        message: { kind: 'error', key, ...(values === undefined ? {} : { values }) },
      };
    };
    if (password === '') return again('missingPasswordMessage', 'password_missing');
    if (password !== request.form.get('password-confirm'))
      return again('notMatchPasswordMessage', 'password_confirm_error');
    const changed = await changePassword(
      onBehalfOf(ctx, {
        realmId: configuration.realm.id,
        address: request.remoteAddress,
        user: user.id,
      }),
      configuration,
      user.id,
      password,
    );
    if (changed.outcome === 'gone') return again('accountChangedMessage', 'user_not_found');
    if (changed.outcome === 'refused') {
      const { key, params } = changed.fault;
      event.details['reason'] = key;
      const values = Object.fromEntries(params.map((value, index) => [String(index), String(value)]));
      return again(key as RuleMessageKey, 'password_rejected', values);
    }
    event.succeeded();
    const credential = startEvent(call, 'UPDATE_CREDENTIAL', client);
    credential.userId = user.id;
    credential.details['username'] = user.username;
    credential.details['credential_type'] = 'password';
    credential.succeeded();
    const current = (await ctx.store.findUser(configuration.realm.id, user.id)) ?? user;
    return {
      outcome: 'done',
      login: {
        user: current,
        proof: {
          by: 'password',
          password: changed.password,
          authenticatedAt: login.row.authenticatedAt ?? now,
        },
        row: { ...withStage(login.row, { at: 'password' }), revision: 0 },
      },
    };
  },
};
