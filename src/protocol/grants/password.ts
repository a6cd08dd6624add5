import { checkLogin } from '../login.ts';
import { Refusal } from '../refusal.ts';
import { startRecord } from '../sessions.ts';
import type { Grant } from './grant.ts';

/** `grant_type=password`: a user's name and password in the form (RFC 6749 §4.3; facts §3.6). */
export const passwordGrant: Grant = {
  eventType: 'LOGIN',
  use: 'direct',

  check({ client, event, request }) {
    event.details['auth_method'] = 'openid-connect';
    const username = request.form.get('username');
    if (username !== undefined) event.details['username'] = username;
    if (!client.directAccessGrantsEnabled)
      throw new Refusal('client-not-allowed', { description: 'Client not allowed for direct access grants' });
    if (client.consentRequired) throw new Refusal('consent-required');
  },

  async prove(request, granted) {
    const { user, stillHolds, settled } = await checkLogin(request);
    const offline = granted.scopes.some((scope) => scope.name === 'offline_access');
    const notes = {};
    const { record, commit } = startRecord(request, user, granted, { offline, notes });
    return {
      user,
      granted,
      origin: 'password',
      notes,
      record,
      commit,
      settled: async () => {
        if (!(await stillHolds())) {
          await request.ctx.store.endSession(record.session.id, offline);
          throw new Refusal('user-credentials-wrong', { detail: 'the account changed during the login' });
        }
        await settled();
      },
    };
  },
};
