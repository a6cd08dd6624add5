import { changePassword, onBehalfOf } from '../../protocol/login/index.ts';
import { startEvent } from '../call.ts';
import { withStage } from '../login/stage.ts';
import { brokenRules, faultsMessage, passwordRules, readNewPassword } from '../new-password.ts';
import type { PageMessage } from '../page-frame.ts';
import type { ActionResult, RequiredAction } from './required-action.ts';

/**
 * UPDATE_PASSWORD: asks for a new password twice. The change ends all sessions of the user and all logins in progress,
 * this one included (docs/keycloak/sessions.md#what-ends-a-session). The user is present, so this login continues under
 * a new id and gets a new session.
 */
export const updatePassword: RequiredAction = {
  message: 'updatePasswordMessage',

  show: (call, { user }, action) => ({
    page: 'update-password',
    action,
    username: user.username,
    logoutSessions: true,
    rules: passwordRules(call),
  }),

  async submit(call, login) {
    const { ctx, configuration, request, now } = call;
    const { client, user } = login;
    const event = startEvent(call, 'UPDATE_PASSWORD', client);
    event.userId = user.id;
    event.details['username'] = user.username;
    const again = (message: PageMessage, eventError: string): ActionResult => {
      event.failed(eventError);
      return { outcome: 'again', message };
    };
    const { password, faults, eventError } = await readNewPassword(call, user);
    if (faults.length > 0) return again(faultsMessage(faults), eventError);
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
    if (changed.outcome === 'gone')
      return again({ kind: 'error', key: 'accountChangedMessage' }, 'user_not_found');
    if (changed.outcome === 'refused')
      return again(faultsMessage(brokenRules(event, changed.faults)), 'password_rejected');
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
