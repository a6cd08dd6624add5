import { ClientError, type RefusalDetails } from './client-error.ts';
import type { PeerMessage, Peers } from './peers.ts';
import { type LoggedOutReason, reasonOfRefusal, type SessionEvent } from './session-state.ts';
import type { TokenSet } from './token-set.ts';

/** The clock and timers, which tests replace. */
export interface Clock {
  /** Unix time in milliseconds. */
  now(): number;
  /** Runs `work` once after a delay in milliseconds. The returned function cancels it. */
  after(milliseconds: number, work: () => void): () => void;
}

/** The tokens of one session, in memory only. */
export interface TokenKeeper {
  readonly tokens: TokenSet | undefined;
  /** Returns a token that is valid for 60 seconds, or for less if the service is unreachable. @throws ClientError */
  accessToken(): Promise<string>;
  /** Returns another token than the one that an API rejected, or the same one if a new one did not help before. */
  renewRefused(accessToken: string): Promise<string>;
  /** Stores the tokens of a login and sends them to the other tabs. */
  put(tokens: TokenSet): void;
  /** Copies the tokens of another tab, optionally only those of one `sub`. Returns whether there were any. */
  join(user?: unknown): Promise<'joined' | 'alone'>;
  /** Clears the tokens here, and in other tabs of the same session. */
  logout(): void;
  close(): void;
}

/** How long a failure in one tab counts for all tabs, and one renewal after a 401 for further 401s. */
const CALM_MILLISECONDS = 5_000;
/** The shortest time between two automatic renewals, for tokens with a short lifetime. */
const SHORTEST_PAUSE_MILLISECONDS = 1_000;
/** How many times a silent tab is queried, for a second each, before it counts as closed. */
const MOST_ROUNDS = 6;
const LONGEST_PAUSE_MILLISECONDS = 300_000;
/** The longest delay of a timer, about 25 days. Browsers and Node.js run longer timers immediately. */
const LONGEST_TIMER_MILLISECONDS = 2 ** 31 - 1;

/** Renews tokens, with one refresh at a time for all callers and all tabs. */
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
      else if (held !== undefined) renew(held).catch(ignoreClientError);
    });
  };

  const take = (tokens: TokenSet): void => {
    held = tokens;
    pause = CALM_MILLISECONDS;
    plan(tokens.renewAt - clock.now());
    emit({ type: 'tokens', user: tokens.user });
  };

  /** Never accepts tokens of another session, which may belong to another user. */
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
    peers.send({ type: 'ended', id: tokens.id, reason, ...details });
    drop(reason, details);
    return new ClientError('logged_out', `the session has ended: ${reason}`, details);
  };

  /** Queries the other tabs. A tab that has used the refresh token and is still open reports the result. */
  const listenToPeers = async (): Promise<void> => {
    for (let rounds = 0; rounds < MOST_ROUNDS; rounds++) {
      for (const tokens of await peers.ask('all')) adopt(tokens);
      if (inUse === undefined || inUse.id !== held?.id || !(await peers.isOpen(inUse.by))) return;
    }
  };

  /** Returns a set that is not `stale`, from another tab or else from a refresh. */
  const renewOnce = async (stale: TokenSet): Promise<TokenSet> => {
    await listenToPeers();
    if (held === undefined) throw loggedOut();
    if (held.id !== stale.id && clock.now() < held.renewAt) return held;
    if (clock.now() - failedAt < CALM_MILLISECONDS) {
      throw new ClientError('unreachable', 'another tab found the service unreachable');
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
    // After a logout meanwhile, new tokens must not bring the session back in any tab.
    if (held?.id !== before.id) throw loggedOut();
    take(next);
    return next;
  };

  const renew = (stale: TokenSet): Promise<TokenSet> => {
    renewal ??= peers
      .exclusively(() => renewOnce(stale))
      .catch((error) => {
        // The tab retries automatically while it has tokens, with growing delays.
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
        ignoreClientError(error);
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
      peers.send({ type: 'tokens', tokens });
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
      peers.send({ type: 'ended', session: held.session, reason: 'logout_elsewhere' });
      drop('logout');
    },
    close() {
      held = undefined;
      callOff();
      // The other tabs wait for a renewal that is in progress.
      void (renewal ?? Promise.resolve()).then(
        () => peers.close(),
        () => peers.close(),
      );
    },
  };
}

/** Ignores a ClientError, which the state and a later attempt report. Rethrows anything else, which is a bug. */
function ignoreClientError(error: unknown): void {
  if (!(error instanceof ClientError)) throw error;
}

function loggedOut(): ClientError {
  return new ClientError('logged_out', 'no user is logged in');
}

function detailsOf({ status, error, errorDescription }: ClientError): RefusalDetails {
  return {
    ...(status === undefined ? {} : { status }),
    ...(error === undefined ? {} : { error }),
    ...(errorDescription === undefined ? {} : { errorDescription }),
  };
}
