import { isAdministrative, mapInSlices, seconds, uuid } from '../../core/index.ts';
import { signJws } from '../../crypto/index.ts';
import type { Client, EndingSessions, SessionEndings, UserSession } from '../../model/index.ts';
import type { RealmConfiguration } from '../../store/index.ts';
import { resolveRootUrl } from '../client/index.ts';
import type { ProtocolContext } from '../context.ts';
import { signatureAlgorithm } from '../keys/index.ts';
import { issuerOf } from '../realm.ts';
import { Refusal } from '../refusal.ts';
import { withOfflineClients } from './end-session.ts';
import { limitCalls } from './fair-calls.ts';

/**
 * Posts one form to a client's address. `later`: the client was unreachable or failed, and a retry may succeed.
 * `refused`: the client rejected the form, or idkit may not call the address. `hint`: the setting that allows the call.
 */
export type PostForm = (
  url: string,
  form: Readonly<Record<string, string>>,
) => Promise<{ outcome: 'delivered' | 'later' | 'refused'; detail: string; hint?: string }>;

/** A logout token that a client did not receive. */
export interface Undelivered {
  realm: string;
  clientId: string;
  detail: string;
  hint?: string;
  /** Whether idkit retries. */
  next: 'retry' | 'none';
}

/** Called at the first failure of a delivery, and again when the last retry fails. */
export type ReportUndelivered = (failure: Undelivered) => void;

/** Pauses before each retry, in milliseconds. */
const PAUSES = [1000, 5000, 20_000] as const;
/**
 * How long the end of a session waits for its clients, in milliseconds. After that, deliveries and retries continue in
 * the background.
 */
const PATIENCE = 2500;
/**
 * Maximum number of parallel calls of this process. Realms take turns, because a user can have thousands of sessions,
 * and each can cause calls.
 */
const AT_ONCE = 32;

/**
 * Opens back-channel logout (Back-Channel Logout 1.0 §2.5), which sends a logout token to every client of an ended
 * session that has a `backchannel.logout.url`, with retries.
 *
 * @param wait resolves after the given number of milliseconds, or earlier if the service stops
 */
export function openLogoutAnnouncer(
  ctx: Pick<ProtocolContext, 'baseUrl' | 'clock' | 'keys' | 'random' | 'store'>,
  postForm: PostForm,
  reportUndelivered: ReportUndelivered,
  wait: (milliseconds: number) => Promise<'over' | 'stopping'>,
): SessionEndings {
  const inTurn = limitCalls(AT_ONCE);
  const deliver = async (
    configuration: RealmConfiguration,
    { client, session }: Recipient,
    failed: (failure: Pick<Undelivered, 'detail' | 'hint' | 'next'>) => void,
  ) => {
    const url = logoutUrl(client, ctx.baseUrl);
    if (url === undefined) return;
    for (const [index, pause] of [...PAUSES, undefined].entries()) {
      const { outcome, ...why } = await inTurn(configuration.realm.id, async () => {
        // Each attempt sends a new token, because the previous one may have expired.
        const token = await makeLogoutToken(ctx, configuration, client, session);
        return postForm(url, { logout_token: token });
      });
      if (outcome === 'delivered') return;
      const next = outcome === 'refused' || pause === undefined ? 'none' : 'retry';
      if (index === 0 || next === 'none') failed({ ...why, next });
      if (next === 'none' || pause === undefined) return;
      if ((await wait(pause)) === 'stopping')
        return failed({ detail: `the service stopped before the next retry; ${why.detail}`, next: 'none' });
    }
  };
  // The session has already ended. A failure at one client is therefore only reported, and does not affect other
  // clients.
  const announce = (configuration: RealmConfiguration, recipient: Recipient) => {
    const failed = (failure: Pick<Undelivered, 'detail' | 'hint' | 'next'>) =>
      reportUndelivered({
        realm: configuration.realm.name,
        clientId: recipient.client.clientId,
        ...failure,
      });
    return deliver(configuration, recipient, failed).catch((error: unknown) =>
      failed({ detail: describeFault(error), next: 'none' }),
    );
  };
  return {
    async prepare(realmId, ending) {
      const configuration = await ctx.store.findRealmById(realmId);
      if (configuration === undefined) return async () => undefined;
      const recipients = await listRecipients(ctx, realmId, ending);
      if (recipients.length === 0) return async () => undefined;
      return async () => {
        const all = mapInSlices(recipients, (one) => announce(configuration, one)).then((running) =>
          Promise.all(running),
        );
        await Promise.race([all, wait(PATIENCE)]);
      };
    },
  };
}

type EndedSession = Pick<UserSession, 'id' | 'userId'>;

interface Recipient {
  client: Client;
  session: EndedSession;
}

type Context = Pick<ProtocolContext, 'store'>;

async function listRecipients(
  ctx: Context,
  realmId: string,
  ending: EndingSessions,
): Promise<readonly Recipient[]> {
  const recipients = new Recipients();
  if ('sessions' in ending) {
    const sessions = await withOfflineClients(ctx.store, ending.sessions);
    const clients = await findNotified(ctx, realmId, new Set(sessions.flatMap((one) => one.clientUuids)));
    for (const { session, clientUuids } of sessions) recipients.add(session, clientUuids, clients);
  } else await addRecipientsOfUser(ctx, realmId, ending, recipients);
  return recipients.list;
}

/** The recipients of logout tokens. A client that takes part in an online and an offline session of one login is one. */
class Recipients {
  readonly #byKey = new Map<string, Recipient>();

  add({ id, userId }: EndedSession, uuids: readonly string[], clients: ReadonlyMap<string, Client>): void {
    for (const uuid of uuids) {
      const client = clients.get(uuid);
      if (client !== undefined) this.#byKey.set(`${id} ${uuid}`, { client, session: { id, userId } });
    }
  }

  get list(): readonly Recipient[] {
    return [...this.#byKey.values()];
  }
}

/** Returns those of the clients that want logout tokens. */
async function findNotified(
  { store }: Context,
  realmId: string,
  uuids: Iterable<string>,
): Promise<ReadonlyMap<string, Client>> {
  const clients = new Map<string, Client>();
  for (const uuid of uuids) {
    const client = await store.findClientByUuid(realmId, uuid);
    if (client?.enabled === true && client.attributes['backchannel.logout.url']) clients.set(uuid, client);
  }
  return clients;
}

/**
 * Adds the recipients of all sessions of a user. The sessions are read page by page, and not at all if no client wants
 * logout tokens, because a user can have a hundred thousand.
 */
async function addRecipientsOfUser(
  ctx: Context,
  realmId: string,
  ending: Exclude<EndingSessions, { sessions: unknown }>,
  recipients: Recipients,
): Promise<void> {
  const { store } = ctx;
  const { userId } = ending;
  const find = async (offline: boolean) => {
    const uuids = await store.listClientsOfUser(userId, offline);
    const wanted = 'clientUuid' in ending ? uuids.filter((uuid) => uuid === ending.clientUuid) : uuids;
    return findNotified(ctx, realmId, wanted);
  };
  const [online, offline] = [await find(false), await find(true)];
  if (online.size === 0 && offline.size === 0) return;
  const offlineToo = 'offlineToo' in ending && ending.offlineToo;
  const onlineIds = new Set<string>();
  const caller = isAdministrative() ? 'administrator' : 'user';
  for await (const page of store.userSessionPages({ userId, offline: false, caller }))
    for (const { session, clientUuids } of page) {
      recipients.add(session, clientUuids, online);
      if (offline.size > 0 && !offlineToo) onlineIds.add(session.id);
    }
  if (offline.size === 0) return;
  // As in `withOfflineClients`, a client that has only offline tokens of a login takes part in its online session.
  for await (const page of store.userSessionPages({ userId, offline: true, caller }))
    for (const { session, clientUuids } of page)
      if (offlineToo || onlineIds.has(session.id)) recipients.add(session, clientUuids, offline);
}

function logoutUrl(client: Client, baseUrl: string): string | undefined {
  const url = client.attributes['backchannel.logout.url'] ?? '';
  return url.startsWith('/') ? `${resolveRootUrl(client, baseUrl)}${url}` : url || undefined;
}

function describeFault(error: unknown): string {
  if (error instanceof Refusal) return error.detail ?? error.case;
  return error instanceof Error ? error.message : String(error);
}

/** Lifetime of a logout token in seconds, as in Keycloak. */
const LIFETIME = 120;
const EVENT = 'http://schemas.openid.net/event/backchannel-logout';

/** Returns a logout token for one client (Back-Channel Logout 1.0 §2.4). It never has a `nonce`. */
async function makeLogoutToken(
  ctx: Pick<ProtocolContext, 'baseUrl' | 'clock' | 'keys' | 'random'>,
  configuration: RealmConfiguration,
  client: Client,
  session: Pick<UserSession, 'id' | 'userId'>,
): Promise<string> {
  const now = seconds(ctx.clock);
  const key = ctx.keys.signingKey(configuration, signatureAlgorithm(configuration, client, 'id'));
  return signJws(
    key,
    {
      iat: now,
      exp: now + LIFETIME,
      jti: uuid(ctx.random),
      iss: issuerOf(ctx, configuration),
      aud: client.clientId,
      sub: session.userId,
      typ: 'Logout',
      ...(client.attributes['backchannel.logout.session.required'] === 'false' ? {} : { sid: session.id }),
      events: { [EVENT]: {} },
    },
    { typ: 'logout+jwt' },
  );
}
