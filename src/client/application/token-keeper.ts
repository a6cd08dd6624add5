import { ClientError, type RefusalDetails } from './client-error.ts';
import type { PeerMessage, Peers } from './peers.ts';
import { LostResponse, type Refresh } from './refresh.ts';
import { type LoggedOutReason, reasonOfRefusal, type SessionEvent } from './session-state.ts';
import type { TokenSet } from './token-set.ts';

/** The clock and the timers of a session, which a test can replace. */
export interface Clock {
  /** Returns the Unix time in milliseconds. */
  now(): number;
  /** Runs `work` after the given time. Returns a function that cancels it. */
  after(milliseconds: number, work: () => void): () => void;
}

/** Keeps the tokens of one session, in memory only. */
export interface TokenKeeper {
  readonly tokens: TokenSet | undefined;
  /**
   * Returns a token with at least 60 seconds left, and renews the current one if necessary. If the renewal fails,
   * returns the current token until that expires.
   *
   * @throws ClientError `logged_out`, or the failure of the renewal
   */
  accessToken(): Promise<string>;
  /** Returns a token other than the rejected one, or the same token if it was renewed moments ago. */
  renewRejected(accessToken: string): Promise<string>;
  /**
   * Stores the tokens of a login and sends them to the other tabs.
   *
   * @throws ClientError `logged_out` if the keeper is closed
   */
  put(tokens: TokenSet): void;
  /**
   * Takes over the tokens of another tab. Returns `alone` if no tab has tokens.
   *
   * @param user accepts only tokens with this `sub`
   */
  join(user?: unknown): Promise<'joined' | 'alone'>;
  /** Discards the tokens in this tab and in all other tabs of the same session. */
  logout(): void;
  close(): void;
}

/**
 * Minimum time after a failed renewal, in any tab, before the next one. Also the minimum time between two renewals
 * after a 401.
 */
const RENEWAL_PAUSE_MILLISECONDS = 5_000;
/** Minimum time before a planned renewal, even if the token expires earlier. */
const SHORTEST_PAUSE_MILLISECONDS = 1_000;
/**
 * Maximum number of times that a tab waits for the tab that used the refresh token. Each wait takes up to one second.
 */
const MAX_ROUNDS = 6;
/** Maximum time between two attempts of a renewal that keeps failing. */
const LONGEST_PAUSE_MILLISECONDS = 300_000;
/** Maximum delay of a timer, about 25 days. Browsers and Node.js run a timer with a longer delay immediately. */
const LONGEST_TIMER_MILLISECONDS = 2 ** 31 - 1;

/**
 * Opens a keeper that renews tokens before they expire. All callers and all tabs share one refresh.
 *
 * @param window for how many milliseconds after its use a refresh token may be used again
 */
export function openTokenKeeper(
  refresh: Refresh,
  peers: Peers,
  emit: (event: SessionEvent) => void,
  clock: Clock,
  window = 0,
): TokenKeeper {
  let held: TokenSet | undefined;
  let renewal: Promise<TokenSet> | undefined;
  let inUse: { id: string; by: string; at: number } | undefined;
  let failure: { at: number; error: ClientError } | undefined;
  let takenAt = -Infinity;
  let rejectedAt = -Infinity;
  let closed = false;
  let pause = RENEWAL_PAUSE_MILLISECONDS;
  let cancelTimer = (): void => {};

  /** Whether a time is less than `milliseconds` ago. A time in the future is not, because the clock was set back. */
  const isRecent = (at: number, milliseconds: number): boolean => {
    const age = clock.now() - at;
    return age >= 0 && age < milliseconds;
  };

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
    takenAt = clock.now();
    failure = undefined;
    pause = RENEWAL_PAUSE_MILLISECONDS;
    plan(tokens.renewAt - clock.now());
    emit({ type: 'tokens', user: tokens.user });
  };

  /** Accepts newer tokens of the same session only, because those of another session may belong to another user. */
  const adopt = (tokens: TokenSet): void => {
    if (held !== undefined && tokens.session === held.session && tokens.order > held.order) take(tokens);
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
        const error = new ClientError('unreachable', 'the service did not respond to another tab');
        failure = { at: clock.now(), error };
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

  /**
   * Takes over newer tokens of other tabs. If an open tab has used the refresh token, waits for that tab to share its
   * result.
   */
  const syncWithPeers = async (): Promise<void> => {
    for (let rounds = 0; rounds < MAX_ROUNDS; rounds++) {
      for (const tokens of await peers.ask('all')) adopt(tokens);
      if (inUse === undefined || inUse.id !== held?.id || !(await peers.isOpen(inUse.by))) return;
    }
  };

  /** Returns a set other than `stale`: a newer one from another tab, or the result of one refresh. */
  const renewOnce = async (stale: TokenSet): Promise<TokenSet> => {
    await syncWithPeers();
    if (held === undefined) throw loggedOut();
    if (held.id !== stale.id && clock.now() < held.renewAt) return held;
    if (failure !== undefined && isRecent(failure.at, RENEWAL_PAUSE_MILLISECONDS)) throw failure.error;
    const before = held;
    // A tab closed after it sent this refresh token, so the token may have been used since then.
    const usedAt = inUse?.id === before.id ? inUse.at : undefined;
    if (usedAt !== undefined && !isRecent(usedAt, window)) throw end(before, 'renewal_interrupted');
    if (before.refreshToken === undefined) throw end(before, 'renewal_refused');
    const at = usedAt ?? clock.now();
    peers.send({ type: 'using', id: before.id, by: peers.me, at });
    let next: TokenSet;
    try {
      next = await refresh(before.refreshToken, before, clock.now() - at);
    } catch (error) {
      if (held?.id === before.id && error instanceof LostResponse) throw end(before, 'renewal_interrupted');
      if (held?.id === before.id && error instanceof ClientError && error.code === 'refused') {
        const details = detailsOf(error);
        throw end(before, reasonOfRefusal(details), details);
      }
      if (error instanceof ClientError) failure = { at: clock.now(), error };
      if (usedAt === undefined) peers.send({ type: 'unused', id: before.id });
      throw error;
    }
    peers.send({ type: 'tokens', tokens: next });
    // If the user logged out in the meantime, the new tokens must not restore the session in any tab.
    if (held?.id !== before.id) throw loggedOut();
    take(next);
    return next;
  };

  const renew = (stale: TokenSet): Promise<TokenSet> => {
    renewal ??= peers
      .exclusively(() => renewOnce(stale))
      .catch((error) => {
        // As long as the tab has tokens, it tries again, with growing pauses. They differ from client to client, so that
        // a service that is available again does not receive all renewals at once.
        if (held !== undefined) plan(pause * (1 + Math.random() / 4));
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
      // A token that is expired when it arrives is not renewed again at every call.
      if (clock.now() < held.renewAt || isRecent(takenAt, SHORTEST_PAUSE_MILLISECONDS))
        return held.accessToken;
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
      if (held.accessToken !== rejected || isRecent(rejectedAt, RENEWAL_PAUSE_MILLISECONDS))
        return held.accessToken;
      const { accessToken } = await renew(held);
      rejectedAt = clock.now();
      return accessToken;
    },
    put(tokens) {
      // Otherwise a login that completes late would renew its tokens for ever.
      if (closed) throw loggedOut();
      peers.send({ type: 'tokens', tokens });
      take(tokens);
    },
    async join(user) {
      if (closed) return 'alone';
      const offered = (await peers.ask(user === undefined ? 'first' : 'all')).filter(
        ({ user: { sub } }) => user === undefined || sub === user,
      );
      const [best] = offered.toSorted((one, other) => other.order - one.order);
      if (best === undefined || held !== undefined || closed) return held === undefined ? 'alone' : 'joined';
      take(best);
      return 'joined';
    },
    logout() {
      if (held === undefined) return;
      peers.send({ type: 'ended', session: held.session, reason: 'logout_elsewhere' });
      drop('logout');
    },
    close() {
      closed = true;
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

/**
 * Ignores a ClientError, because the session's state and the next attempt report it. Any other error is a bug and is
 * thrown.
 */
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
