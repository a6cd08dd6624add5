import { HashingBusy } from '../crypto/index.ts';
import type { Client } from '../model/index.ts';
import type { RealmConfiguration } from '../store/index.ts';
import { authenticateClient } from './client-authentication.ts';
import type { ProtocolContext, ProtocolRequest } from './context.ts';
import { checkOrigin } from './cors.ts';
import type { EventDraft } from './events.ts';
import { Refusal } from './refusal.ts';

/** A client that proved itself, and what the rest of the endpoint leads to. */
export interface ClientAtEndpoint<T> {
  result: T;
  allowOrigin: string | undefined;
}

/**
 * What the endpoints with a client have in common: authenticate it, look at the origin, refuse doubled fields,
 * then do the endpoint's own work. Whatever is refused carries the origin that may read it: any while the client
 * is not known (facts §1), and is told as an event.
 *
 * @throws Refusal
 */
export async function withClient<T>(
  ctx: ProtocolContext,
  configuration: RealmConfiguration,
  request: ProtocolRequest,
  event: EventDraft,
  disabledAs: 'client-disabled' | 'client-unknown',
  work: (client: Client) => Promise<T>,
): Promise<ClientAtEndpoint<T>> {
  let allowOrigin = request.origin;
  try {
    event.clientId = request.form.get('client_id') || undefined;
    const authenticated = await authenticateClient(ctx, configuration, request, disabledAs);
    const { client } = authenticated;
    event.clientId = client.clientId;
    event.details['client_auth_method'] = authenticated.method;
    allowOrigin = undefined;
    allowOrigin = checkOrigin(ctx, client, request.origin);
    return { result: await work(client), allowOrigin };
  } catch (error) {
    // No event: nobody looked at the credentials, and a flood is not to be stored.
    if (error instanceof HashingBusy) throw new Refusal('service-busy', { allowOrigin, cause: error });
    if (error instanceof Refusal) {
      error.allowOrigin ??= allowOrigin;
      event.refused(error);
    }
    throw error;
  }
}
