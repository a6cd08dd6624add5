import { Refusal } from '../refusal.ts';
import { startRecord } from '../session/index.ts';
import type { Grant } from './grant.ts';

/**
 * `grant_type=client_credentials`: issues tokens for the client's own service account (RFC 6749 §4.4;
 * docs/keycloak/tokens.md#client-credentials).
 */
export const clientCredentialsGrant: Grant = {
  eventType: 'CLIENT_LOGIN',
  shortcut: 'cc',
  use: 'service-account',

  check({ client }) {
    if (client.publicClient) throw notEnabled('Public client not allowed to retrieve service account');
    if (!client.serviceAccountsEnabled) throw notEnabled('Client not enabled to retrieve service account');
  },

  async prove(request, granted) {
    const { ctx, client, event } = request;
    const user = await ctx.store.findServiceAccount(client.id);
    if (user === undefined)
      throw new Refusal('service-account-unusable', {
        description: 'The associated service account for the client does not exist',
      });
    event.userId = user.id;
    event.details['username'] = user.username;
    if (!user.enabled)
      throw new Refusal('service-account-unusable', {
        description: `User '${user.username}' disabled`,
        eventError: 'user_disabled',
      });
    const notes = {
      client_id: client.clientId,
      clientHost: request.request.remoteAddress,
      clientAddress: request.request.remoteAddress,
    };
    const proof = { user, granted, notes };
    if (client.attributes['client_credentials.use_refresh_token'] !== 'true') return proof;
    return { ...proof, ...startRecord(request, user, granted, { offline: false, notes }) };
  },
};

function notEnabled(description: string): Refusal {
  return new Refusal('service-account-not-enabled', { description });
}
