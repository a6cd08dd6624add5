import { inTurn, untilApplied } from '../../core/index.ts';
import { userTurn } from '../../model/index.ts';
import { startEvent } from '../call.ts';
import type { RequiredAction } from './required-action.ts';

const ACTION = 'TERMS_AND_CONDITIONS';

/** TERMS_AND_CONDITIONS: stores the time of the acceptance in Keycloak's user attribute, or rejects the login. */
export const terms: RequiredAction = {
  show: (_call, _login, action) => ({ page: 'terms', action }),

  async submit(call, login) {
    const { ctx, configuration, request, now } = call;
    const { id: realmId } = configuration.realm;
    const { user, client } = login;
    const event = startEvent(call, 'CUSTOM_REQUIRED_ACTION', client);
    event.userId = user.id;
    event.details['username'] = user.username;
    event.details['custom_required_action'] = ACTION;
    if (!request.form.has('accept')) {
      event.failed('rejected_by_user');
      return { outcome: 'refused' };
    }
    const accept = async () => {
      const current = await ctx.store.findUser(realmId, user.id);
      if (current === undefined) return undefined;
      const next = {
        ...current,
        requiredActions: current.requiredActions.filter((action) => action !== ACTION),
        attributes: { ...current.attributes, terms_and_conditions: [String(now)] },
      };
      const applied = await ctx.store.apply([{ do: 'put', user: next }]);
      if (applied.outcome === 'stale') return applied;
      return applied.outcome === 'applied' ? next : undefined;
    };
    const accepted = await inTurn(ctx.store, userTurn(user.id), () => untilApplied(accept));
    if (accepted === undefined) {
      event.failed('user_not_found');
      return { outcome: 'again', message: { kind: 'error', key: 'accountChangedMessage' } };
    }
    event.succeeded();
    return { outcome: 'done', login: { user: accepted } };
  },
};
