import type { Client } from '../../model/index.ts';
import { resolveRootUrl } from '../../protocol/client/index.ts';
import { withOfflineClients } from '../../protocol/session/index.ts';
import type { SessionWithClients } from '../../store/index.ts';
import type { BrowserCall } from '../call.ts';

/**
 * Returns the frames in which the clients of an ended session clear their state in this browser (Front-Channel Logout
 * 1.0 §2). A client needs `frontchannelLogout` and a logout URL that is a web address.
 */
export async function frontChannelFrames(
  { ctx, configuration, issuer }: BrowserCall,
  ended: SessionWithClients,
): Promise<readonly { client: string; url: string }[]> {
  const { session } = ended;
  const [all = ended] = await withOfflineClients(ctx.store, [ended]);
  const clients = await Promise.all(
    all.clientUuids.map((uuid) => ctx.store.findClientByUuid(configuration.realm.id, uuid)),
  );
  return clients.flatMap((client) => {
    const url = client === undefined ? undefined : frameUrl(client, ctx.baseUrl, issuer, session.id);
    return client === undefined || url === undefined ? [] : [{ client: client.name || client.clientId, url }];
  });
}

function frameUrl(client: Client, baseUrl: string, issuer: string, sessionId: string): string | undefined {
  const named = client.attributes['frontchannel.logout.url'] ?? '';
  if (!client.enabled || !client.frontchannelLogout || named === '') return undefined;
  const url = URL.parse(named.startsWith('/') ? `${resolveRootUrl(client, baseUrl)}${named}` : named);
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined;
  if (client.attributes['frontchannel.logout.session.required'] !== 'false') {
    url.searchParams.set('iss', issuer);
    url.searchParams.set('sid', sessionId);
  }
  return url.href;
}
