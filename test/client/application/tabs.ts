import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { openBrowserPeers } from '../../../src/client/application/browser-peers.ts';
import { isSecureWindow } from '../../../src/client/application/browser-window.ts';
import { ClientError } from '../../../src/client/application/client-error.ts';
import type { Peers } from '../../../src/client/application/peers.ts';
import type { Refresh } from '../../../src/client/application/refresh.ts';
import type { SessionEvent } from '../../../src/client/application/session-state.ts';
import { openTokenKeeper, type TokenKeeper } from '../../../src/client/application/token-keeper.ts';
import type { TokenSet } from '../../../src/client/application/token-set.ts';

/** A clock that advances only when a test calls `advance`. */
export interface FakeClock {
  now(): number;
  after(milliseconds: number, work: () => void): () => void;
  /** Advances the clock and runs the timers whose time has come. */
  advance(milliseconds: number): void;
}

export function fakeClock(): FakeClock {
  let now = 1_800_000_000_000;
  let timers: { at: number; work: () => void }[] = [];
  return {
    now: () => now,
    after(milliseconds, work) {
      assert.ok(milliseconds < 2 ** 31, 'a real timer would run immediately');
      const timer = { at: now + milliseconds, work };
      timers.push(timer);
      return () => {
        timers = timers.filter((other) => other !== timer);
      };
    },
    advance(milliseconds) {
      now += milliseconds;
      const due = timers.filter(({ at }) => at <= now);
      timers = timers.filter(({ at }) => at > now);
      for (const { work } of due) work();
    },
  };
}

/** Returns a token set with a lifetime of 300 s. `number` identifies its tokens. */
export function tokenSet(clock: FakeClock, number: number, session = 'alice 1'): TokenSet {
  const now = clock.now();
  return {
    id: crypto.randomUUID(),
    session,
    order: now,
    accessToken: `access-${number}`,
    expiresAt: now + 300_000,
    renewAt: now + 240_000,
    refreshToken: `refresh-${number}`,
    idToken: undefined,
    user: { sub: session.split(' ')[0] },
  };
}

/** A tab of the application, with its token keeper and the events that the keeper emitted. */
export interface Tab {
  keeper: TokenKeeper;
  events: SessionEvent[];
}

/** Opens one tab's connection to the other tabs, with the Web Locks and BroadcastChannel of Node.js. */
export function openPeers(name: string): Peers {
  const scope: unknown = globalThis;
  assert.ok(isSecureWindow(scope));
  return openBrowserPeers(scope, name);
}

/** The service that all tabs of a test use. */
interface TestService {
  /** The number of refresh requests so far. */
  refreshes: number;
  /** The number in the name of the current refresh token. */
  current: number;
  ended: boolean;
  /** How long ago, in milliseconds, another tab may have used the token of the last refresh. */
  usedFor: number | undefined;
  /** Replaces the response to a refresh. */
  fault: (() => Promise<TokenSet>) | undefined;
}

/**
 * Opens tabs of one browser, with the Web Locks and BroadcastChannels of Node.js. Their service rotates refresh tokens,
 * and ends the session if a refresh token is reused.
 *
 * @param window for how many milliseconds after its use a refresh token may be used again
 */
export function openTabs(t: TestContext, window = 0) {
  const clock = fakeClock();
  const name = `tabs ${crypto.randomUUID()}`;
  const tabs: Tab[] = [];
  const service: TestService = {
    refreshes: 0,
    current: 1,
    ended: false,
    usedFor: undefined,
    fault: undefined,
  };
  const refresh: Refresh = async (refreshToken, before, usedFor): Promise<TokenSet> => {
    service.refreshes += 1;
    service.usedFor = usedFor;
    await new Promise((resolve) => setTimeout(resolve, 5));
    if (service.fault !== undefined) return service.fault();
    if (refreshToken !== `refresh-${service.current}`) service.ended = true;
    if (service.ended) {
      throw new ClientError('refused', 'the service rejected the refresh token', {
        status: 400,
        error: 'invalid_grant',
      });
    }
    service.current += 1;
    const next = tokenSet(clock, service.current, before?.session);
    return { ...next, order: Math.max(next.order, (before?.order ?? 0) + 1) };
  };
  t.after(() => {
    for (const { keeper } of tabs) keeper.close();
  });
  const open = (): Tab => {
    const events: SessionEvent[] = [];
    const peers = openPeers(name);
    const keeper = openTokenKeeper(refresh, peers, (event) => events.push(event), clock, window);
    tabs.push({ keeper, events });
    return { keeper, events };
  };
  /** Opens a tab that has logged in, and further tabs that have taken over its tokens. */
  const openMany = async (count: number): Promise<[Tab, ...Tab[]]> => {
    const first = open();
    first.keeper.put(tokenSet(clock, service.current));
    const rest = Array.from({ length: count - 1 }, () => open());
    for (const { keeper } of rest) assert.equal(await keeper.join(), 'joined');
    return [first, ...rest];
  };
  const openTwo = async (): Promise<[Tab, Tab]> => {
    const [first, second] = await openMany(2);
    assert.ok(second !== undefined);
    return [first, second];
  };
  return { clock, service, name, open, openMany, openTwo };
}
