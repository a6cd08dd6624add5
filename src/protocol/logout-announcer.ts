import type { Client, EndingSessions, SessionEndings, UserSession } from '../model/index.ts';
import type { RealmConfiguration } from '../store/index.ts';
import { resolveRootUrl } from './claims/index.ts';
import type { ProtocolContext } from './context.ts';
import { makeLogoutToken } from './logout-token.ts';
import { Refusal } from './refusal.ts';
import { withOfflineClients } from './session-clients.ts';

/**
 * Sends one form to a client's address and says what became of it. `later`: not reached or a server's fault, worth
 * another try. `refused`: the client does not want it, or the address is not one that may be called.
 */
export type PostForm = (
  url: string,
  form: Readonly<Record<string, string>>,
) => Promise<{ outcome: 'delivered' | 'later' | 'refused'; detail: string }>;

/** Where a delivery that failed for good is told. */
export type TellUndelivered = (failure: { realm: string; clientId: string; detail: string }) => void;

/** Milliseconds before each further try. */
const PAUSES = [1000, 5000, 20_000] as const;
/** Milliseconds that the end of a session waits for its clients; the rest is tried behind it. */
const PATIENCE = 2500;
/** Calls under way at once in this process: a user may have thousands of sessions. */
const AT_ONCE = 32;

/**
 * Back-channel logout (Back-Channel Logout 1.0 §2.5): every client of an ended session that has a
 * `backchannel.logout.url` is sent a logout token of its own, again after a failure.
 *
 * @param wait resolves after so many milliseconds; ends early when the service stops
 */
export function openLogoutAnnouncer(
  ctx: Pick<ProtocolContext, 'baseUrl' | 'clock' | 'keys' | 'random' | 'store'>,
  postForm: PostForm,
  tellUndelivered: TellUndelivered,
  wait: (milliseconds: number) => Promise<'over' | 'stopping'>,
): SessionEndings {
  const postInTurn = limitCalls(postForm);
  /** Undefined once it is delivered, else why it was not. */
  const deliver = async (configuration: RealmConfiguration, client: Client, session: EndedSession) => {
    const url = logoutUrl(client, ctx.baseUrl);
    if (url === undefined) return undefined;
    let detail = 'the service stopped';
    for (const pause of [...PAUSES, undefined]) {
      // A token of its own each time: an old one may have expired.
      const token = await makeLogoutToken(ctx, configuration, client, session);
      const sent = await postInTurn(url, { logout_token: token });
      if (sent.outcome === 'delivered') return undefined;
      detail = sent.detail;
      if (sent.outcome === 'refused' || pause === undefined || (await wait(pause)) === 'stopping') break;
    }
    return detail;
  };
  // The session has ended by now: whatever goes wrong with one client is told, and keeps nobody else from being told.
  const announce = async (configuration: RealmConfiguration, { client, session }: Told) => {
    const detail = await deliver(configuration, client, session).catch(describeFault);
    if (detail === undefined) return;
    tellUndelivered({ realm: configuration.realm.name, clientId: client.clientId, detail });
  };
  return {
    async prepare(realmId, ending) {
      const configuration = await ctx.store.findRealmById(realmId);
      if (configuration === undefined) return async () => undefined;
      const told = await listTold(ctx, realmId, ending);
      if (told.length === 0) return async () => undefined;
      return async () => {
        const all = Promise.all(told.map((one) => announce(configuration, one)));
        await Promise.race([all, wait(PATIENCE)]);
      };
    },
  };
}

/** At most `AT_ONCE` calls at a time; the others wait in the order in which they came. */
function limitCalls(postForm: PostForm): PostForm {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (url, form) => {
    if (running >= AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await postForm(url, form);
    } finally {
      // Whoever waits takes this place over.
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}

type EndedSession = Pick<UserSession, 'id' | 'userId'>;

/** Sessions with the clients that are to be told of their end. */
type Endings = Extract<EndingSessions, { sessions: unknown }>['sessions'];

interface Told {
  client: Client;
  session: EndedSession;
}

async function listTold(
  ctx: Pick<ProtocolContext, 'store'>,
  realmId: string,
  ending: EndingSessions,
): Promise<readonly Told[]> {
  const sessions = 'sessions' in ending ? ending.sessions : await listOfUser(ctx, ending);
  const pairs = (await withOfflineClients(ctx.store, sessions)).flatMap(({ session, clientUuids }) =>
    clientUuids.map((uuid) => ({ session, uuid })),
  );
  // An online and an offline session of one login have one name: a client of both is told once.
  const once = new Map(pairs.map((pair) => [`${pair.session.id} ${pair.uuid}`, pair]));
  const wanted = [...once.values()].filter(
    ({ uuid }) => !('clientUuid' in ending) || uuid === ending.clientUuid,
  );
  const found = await Promise.all(
    wanted.map(async ({ session, uuid }) => ({
      session,
      client: await ctx.store.findClientByUuid(realmId, uuid),
    })),
  );
  return found.flatMap(({ session, client }) =>
    client?.enabled === true && client.attributes['backchannel.logout.url'] ? [{ client, session }] : [],
  );
}

async function listOfUser(
  { store }: Pick<ProtocolContext, 'store'>,
  ending: Exclude<EndingSessions, { sessions: unknown }>,
): Promise<Endings> {
  const online = await store.listUserSessions(ending.userId, false);
  if ('clientUuid' in ending || !ending.offlineToo) return online;
  return [...online, ...(await store.listUserSessions(ending.userId, true))];
}

function logoutUrl(client: Client, baseUrl: string): string | undefined {
  const url = client.attributes['backchannel.logout.url'] ?? '';
  return url.startsWith('/') ? `${resolveRootUrl(client, baseUrl)}${url}` : url || undefined;
}

function describeFault(error: unknown): string {
  if (error instanceof Refusal) return error.detail ?? error.case;
  return error instanceof Error ? error.message : String(error);
}
