import { ClientError, type RefusalDetails } from './client-error.ts';
import type { PeerMessage, Peers } from './peers.ts';
import { type LoggedOutReason, reasonOfRefusal, type SessionEvent } from './session-state.ts';
import type { TokenSet } from './token-set.ts';

/** Time, so that a test can turn it. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Runs `work` once, so many milliseconds from now; the answer calls it off. */
  after(milliseconds: number, work: () => void): () => void;
}

/** The tokens of one session, in memory only. */
export interface TokenKeeper {
  readonly tokens: TokenSet | undefined;
  /** A token with 60 seconds left, or what is left where the service cannot be reached. @throws ClientError */
  accessToken(): Promise<string>;
  /** A token other than the one that an API refused; the same one where a new one did not help before. */
  renewRefused(accessToken: string): Promise<string>;
  /** Takes the tokens of a login, and hands them to the other tabs. */
  put(tokens: TokenSet): void;
  /** Takes over what another tab holds; says whether there was something. `user`: only of this `sub`. */
  join(user?: unknown): Promise<'joined' | 'alone'>;
  /** Clears the tokens here, and in other tabs of the same session. */
  logout(): void;
  close(): void;
}

/** For so long a failure in one tab counts for all, and a reactive renewal for all further refusals. */
const CALM_MILLISECONDS = 5_000;
/** However short a token lives, it is not renewed by itself more often than that. */
const SHORTEST_PAUSE_MILLISECONDS = 1_000;
/** How often a tab that does not answer is asked, a second each, until it counts as closed. */
const MOST_ROUNDS = 6;
const LONGEST_PAUSE_MILLISECONDS = 300_000;
/** Timers of browsers and of Node.js that are set for longer, 25 days, run at once. */
const LONGEST_TIMER_MILLISECONDS = 2 ** 31 - 1;

/** Keeps tokens fresh: one refresh in flight for all callers and all tabs. */
export function openTokenKeeper(
  refresh: (refreshToken: string, before: TokenSet) => Promise<TokenSet>,
  peers: Peers,
  emit: (event: SessionEvent) => void,
  clock: Clock,
): TokenKeeper {
  let held: TokenSet | undefined;
  let renewal: Promise<TokenSet> | undefined;
  let inUse: { id: string; by: string } | undefined;
  let failedAt = 0;
  let reactiveAt = 0;
  let pause = CALM_MILLISECONDS;
  let callOff = (): void => {};

  const plan = (milliseconds: number): void => {
    callOff();
    const wait = Math.max(SHORTEST_PAUSE_MILLISECONDS, milliseconds);
    const rest = wait - LONGEST_TIMER_MILLISECONDS;
    callOff = clock.after(Math.min(wait, LONGEST_TIMER_MILLISECONDS), () => {
      if (rest > 0) plan(rest);
      else if (held !== undefined) renew(held).catch(passClientError);
    });
  };

  const take = (tokens: TokenSet): void => {
    held = tokens;
    pause = CALM_MILLISECONDS;
    plan(tokens.renewAt - clock.now());
    emit({ type: 'tokens', user: tokens.user });
  };

  /** Tokens of another session may be another user's: they are never taken in place of one's own. */
  const adopt = (tokens: TokenSet): void => {
    if (held !== undefined && tokens.session === held.session && tokens.expiresAt > held.expiresAt)
      take(tokens);
  };

  const drop = (reason: LoggedOutReason, details: RefusalDetails = {}): void => {
    held = undefined;
    callOff();
    emit({ type: 'ended', reason, ...details });
  };

  peers.listen(
    () => held,
    (message: PeerMessage) => {
      if (message.type === 'tokens') adopt(message.tokens);
      else if (message.type === 'using') inUse = message;
      else if (message.type === 'unused') {
        if (inUse?.id === message.id) inUse = undefined;
        failedAt = clock.now();
      } else if (held !== undefined && (message.id === held.id || message.session === held.session)) {
        const { type: _, id: __, session: ___, reason, ...details } = message;
        drop(reason, details);
      }
    },
  );

  const end = (tokens: TokenSet, reason: LoggedOutReason, details: RefusalDetails = {}): ClientError => {
    peers.tell({ type: 'ended', id: tokens.id, reason, ...details });
    drop(reason, details);
    return new ClientError('logged_out', `the session has ended: ${reason}`, details);
  };

  /** Learns what the other tabs have; one that used the refresh token and is still there will tell what came of it. */
  const listenToPeers = async (): Promise<void> => {
    for (let rounds = 0; rounds < MOST_ROUNDS; rounds++) {
      for (const tokens of await peers.ask('all')) adopt(tokens);
      if (inUse === undefined || inUse.id !== held?.id || !(await peers.isOpen(inUse.by))) return;
    }
  };

  /** Gives a set that is not `stale`: by another tab where there is one, else by one refresh. */
  const renewOnce = async (stale: TokenSet): Promise<TokenSet> => {
    await listenToPeers();
    if (held === undefined) throw loggedOut();
    if (held.id !== stale.id && clock.now() < held.renewAt) return held;
    if (clock.now() - failedAt < CALM_MILLISECONDS) {
      throw new ClientError('unreachable', 'another tab could not reach the service');
    }
    const before = held;
    if (inUse?.id === before.id) throw end(before, 'renewal_interrupted');
    if (before.refreshToken === undefined) throw end(before, 'renewal_refused');
    peers.tell({ type: 'using', id: before.id, by: peers.me });
    let next: TokenSet;
    try {
      next = await refresh(before.refreshToken, before);
    } catch (error) {
      if (held?.id === before.id && error instanceof ClientError && error.code === 'refused') {
        const details = detailsOf(error);
        throw end(before, reasonOfRefusal(details), details);
      }
      peers.tell({ type: 'unused', id: before.id });
      throw error;
    }
    peers.tell({ type: 'tokens', tokens: next });
    // A logout meanwhile stands: new tokens do not bring the session back, here or in other tabs.
    if (held?.id !== before.id) throw loggedOut();
    take(next);
    return next;
  };

  const renew = (stale: TokenSet): Promise<TokenSet> => {
    renewal ??= peers
      .exclusively(() => renewOnce(stale))
      .catch((error) => {
        // Whoever still holds tokens tries again by itself, ever more seldom.
        if (held !== undefined) plan(pause);
        pause = Math.min(2 * pause, LONGEST_PAUSE_MILLISECONDS);
        throw error;
      })
      .finally(() => {
        renewal = undefined;
      });
    return renewal;
  };

  return {
    get tokens() {
      return held;
    },
    async accessToken() {
      if (held === undefined) throw loggedOut();
      if (clock.now() < held.renewAt) return held.accessToken;
      try {
        return (await renew(held)).accessToken;
      } catch (error) {
        passClientError(error);
        if (held !== undefined && clock.now() < held.expiresAt) return held.accessToken;
        throw error;
      }
    },
    async renewRefused(refused) {
      if (held === undefined) throw loggedOut();
      if (held.accessToken !== refused || clock.now() - reactiveAt < CALM_MILLISECONDS)
        return held.accessToken;
      const { accessToken } = await renew(held);
      reactiveAt = clock.now();
      return accessToken;
    },
    put(tokens) {
      peers.tell({ type: 'tokens', tokens });
      take(tokens);
    },
    async join(user) {
      const found = (await peers.ask(user === undefined ? 'first' : 'all')).filter(
        ({ user: { sub } }) => user === undefined || sub === user,
      );
      const [best] = found.toSorted((one, other) => other.expiresAt - one.expiresAt);
      if (best === undefined || held !== undefined) return held === undefined ? 'alone' : 'joined';
      take(best);
      return 'joined';
    },
    logout() {
      if (held === undefined) return;
      peers.tell({ type: 'ended', session: held.session, reason: 'logout_elsewhere' });
      drop('logout');
    },
    close() {
      held = undefined;
      callOff();
      // A renewal that is under way is for the other tabs too.
      void (renewal ?? Promise.resolve()).then(
        () => peers.close(),
        () => peers.close(),
      );
    },
  };
}

/** What went wrong is told by the state, and by a later try. Anything else is a bug, and is thrown. */
function passClientError(error: unknown): void {
  if (!(error instanceof ClientError)) throw error;
}

function loggedOut(): ClientError {
  return new ClientError('logged_out', 'nobody is logged in');
}

function detailsOf({ status, error, errorDescription }: ClientError): RefusalDetails {
  return {
    ...(status === undefined ? {} : { status }),
    ...(error === undefined ? {} : { error }),
    ...(errorDescription === undefined ? {} : { errorDescription }),
  };
}
