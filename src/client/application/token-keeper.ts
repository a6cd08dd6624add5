import { ClientError, type RefusalDetails } from './client-error.ts';
import type { PeerMessage, Peers } from './peers.ts';
import { type LoggedOutReason, reasonOfRefusal, type SessionEvent } from './session-state.ts';
import type { TokenSet } from './token-set.ts';

/** A port for the time, so that a test can control it. */
export interface Clock {
  /** Returns the Unix time in milliseconds. */
  now(): number;
  /** Runs `work` once after the given time. Returns a function that cancels it. */
  after(milliseconds: number, work: () => void): () => void;
}

/** Keeps the tokens of one session, in memory only. */
export interface TokenKeeper {
  readonly tokens: TokenSet | undefined;
  /**
   * Returns a token with at least 60 seconds left, after a renewal if necessary. If the renewal fails, returns the old
   * token until that expires.
   *
   * @throws ClientError `logged_out`, or the failure of the renewal
   */
  accessToken(): Promise<string>;
  /** Returns a token other than the rejected one. Returns the same token if a renewal moments ago did not help. */
  renewRejected(accessToken: string): Promise<string>;
  /** Stores the tokens of a login and sends them to the other tabs. */
  put(tokens: TokenSet): void;
  /**
   * Takes over the tokens of another tab. Returns `alone` if no tab has any.
   *
   * @param user accepts only tokens with this `sub`
   */
  join(user?: unknown): Promise<'joined' | 'alone'>;
  /** Discards the tokens in this tab and in all other tabs of the same session. */
  logout(): void;
  close(): void;
}

/** A failed renewal counts for all tabs for this time, and a renewal after a 401 counts for all further 401s. */
const RENEWAL_PAUSE_MILLISECONDS = 5_000;
/** Shortest time before a planned renewal, however soon the token expires. */
const SHORTEST_PAUSE_MILLISECONDS = 1_000;
/** Number of rounds, each of one second, in which a tab may reply before the others stop waiting for it. */
const MAX_ROUNDS = 6;
/** Longest time between two attempts of a failing renewal. */
const LONGEST_PAUSE_MILLISECONDS = 300_000;
/** Browsers and Node.js run a timer immediately if its delay is longer, which is about 25 days. */
const LONGEST_TIMER_MILLISECONDS = 2 ** 31 - 1;

/** Opens a keeper that renews tokens before they expire, with one refresh in flight for all callers and all tabs. */
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
  let rejectedAt = 0;
  let pause = RENEWAL_PAUSE_MILLISECONDS;
  let cancelTimer = (): void => {};

  const plan = (milliseconds: number): void => {
    cancelTimer();
    const wait = Math.max(SHORTEST_PAUSE_MILLISECONDS, milliseconds);
    const rest = wait - LONGEST_TIMER_MILLISECONDS;
    cancelTimer = clock.after(Math.min(wait, LONGEST_TIMER_MILLISECONDS), () => {
      if (rest > 0) plan(rest);
      else if (held !== undefined) renew(held).catch(passClientError);
    });
  };

  const take = (tokens: TokenSet): void => {
    held = tokens;
    pause = RENEWAL_PAUSE_MILLISECONDS;
    plan(tokens.renewAt - clock.now());
    emit({ type: 'tokens', user: tokens.user });
  };

  /** Accepts newer tokens of the same session only. Tokens of another session may belong to another user. */
  const adopt = (tokens: TokenSet): void => {
    if (held !== undefined && tokens.session === held.session && tokens.expiresAt > held.expiresAt)
      take(tokens);
  };

  const drop = (reason: LoggedOutReason, details: RefusalDetails = {}): void => {
    held = undefined;
    cancelTimer();
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
    peers.send({ type: 'ended', id: tokens.id, reason, ...details });
    drop(reason, details);
    return new ClientError('logged_out', `the session has ended: ${reason}`, details);
  };

  /** Adopts newer tokens of other tabs. Waits for an open tab that has used the refresh token to share the result. */
  const syncWithPeers = async (): Promise<void> => {
    for (let rounds = 0; rounds < MAX_ROUNDS; rounds++) {
      for (const tokens of await peers.ask('all')) adopt(tokens);
      if (inUse === undefined || inUse.id !== held?.id || !(await peers.isOpen(inUse.by))) return;
    }
  };

  /** Returns a set other than `stale`: that of another tab if it has one, otherwise the result of one refresh. */
  const renewOnce = async (stale: TokenSet): Promise<TokenSet> => {
    await syncWithPeers();
    if (held === undefined) throw loggedOut();
    if (held.id !== stale.id && clock.now() < held.renewAt) return held;
    if (clock.now() - failedAt < RENEWAL_PAUSE_MILLISECONDS) {
      throw new ClientError('unreachable', 'the service did not respond to another tab moments ago');
    }
    const before = held;
    if (inUse?.id === before.id) throw end(before, 'renewal_interrupted');
    if (before.refreshToken === undefined) throw end(before, 'renewal_refused');
    peers.send({ type: 'using', id: before.id, by: peers.me });
    let next: TokenSet;
    try {
      next = await refresh(before.refreshToken, before);
    } catch (error) {
      if (held?.id === before.id && error instanceof ClientError && error.code === 'refused') {
        const details = detailsOf(error);
        throw end(before, reasonOfRefusal(details), details);
      }
      peers.send({ type: 'unused', id: before.id });
      throw error;
    }
    peers.send({ type: 'tokens', tokens: next });
    // After a logout in the meantime, new tokens do not restore the session, in this tab or in others.
    if (held?.id !== before.id) throw loggedOut();
    take(next);
    return next;
  };

  const renew = (stale: TokenSet): Promise<TokenSet> => {
    renewal ??= peers
      .exclusively(() => renewOnce(stale))
      .catch((error) => {
        // A tab that still has tokens tries again, with growing pauses.
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
    async renewRejected(rejected) {
      if (held === undefined) throw loggedOut();
      if (held.accessToken !== rejected || clock.now() - rejectedAt < RENEWAL_PAUSE_MILLISECONDS)
        return held.accessToken;
      const { accessToken } = await renew(held);
      rejectedAt = clock.now();
      return accessToken;
    },
    put(tokens) {
      peers.send({ type: 'tokens', tokens });
      take(tokens);
    },
    async join(user) {
      const offered = (await peers.ask(user === undefined ? 'first' : 'all')).filter(
        ({ user: { sub } }) => user === undefined || sub === user,
      );
      const [best] = offered.toSorted((one, other) => other.expiresAt - one.expiresAt);
      if (best === undefined || held !== undefined) return held === undefined ? 'alone' : 'joined';
      take(best);
      return 'joined';
    },
    logout() {
      if (held === undefined) return;
      peers.send({ type: 'ended', session: held.session, reason: 'logout_elsewhere' });
      drop('logout');
    },
    close() {
      held = undefined;
      cancelTimer();
      // A renewal in flight serves the other tabs too, so the connection to them stays open until it ends.
      void (renewal ?? Promise.resolve()).then(
        () => peers.close(),
        () => peers.close(),
      );
    },
  };
}

/** Ignores a ClientError, which the session's state and the next attempt report. Throws any other error, a bug. */
function passClientError(error: unknown): void {
  if (!(error instanceof ClientError)) throw error;
}

function loggedOut(): ClientError {
  return new ClientError('logged_out', 'the session has no tokens; call login() first');
}

function detailsOf({ status, error, errorDescription }: ClientError): RefusalDetails {
  return {
    ...(status === undefined ? {} : { status }),
    ...(error === undefined ? {} : { error }),
    ...(errorDescription === undefined ? {} : { errorDescription }),
  };
}
