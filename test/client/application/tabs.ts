import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { openBrowserPeers } from '../../../src/client/application/browser-peers.ts';
import type { BrowserWindow } from '../../../src/client/application/browser-window.ts';
import { ClientError } from '../../../src/client/application/client-error.ts';
import type { SessionEvent } from '../../../src/client/application/session-state.ts';
import { openTokenKeeper, type TokenKeeper } from '../../../src/client/application/token-keeper.ts';
import type { TokenSet } from '../../../src/client/application/token-set.ts';

/** A clock that moves only when a test advances it. */
export interface FakeClock {
  now(): number;
  after(milliseconds: number, work: () => void): () => void;
  /** Turns it on, and runs what has become due. */
  turn(milliseconds: number): void;
}

export function fakeClock(): FakeClock {
  let now = 1_800_000_000_000;
  let alarms: { at: number; work: () => void }[] = [];
  return {
    now: () => now,
    after(milliseconds, work) {
      assert.ok(milliseconds < 2 ** 31, 'a real timer would run at once');
      const alarm = { at: now + milliseconds, work };
      alarms.push(alarm);
      return () => {
        alarms = alarms.filter((other) => other !== alarm);
      };
    },
    turn(milliseconds) {
      now += milliseconds;
      const due = alarms.filter(({ at }) => at <= now);
      alarms = alarms.filter(({ at }) => at > now);
      for (const { work } of due) work();
    },
  };
}

/** A token set of a session that lives 300 s, numbered by its refresh token. */
export function tokenSet(clock: FakeClock, number: number, session = 'alice 1'): TokenSet {
  const now = clock.now();
  return {
    id: crypto.randomUUID(),
    session,
    accessToken: `access-${number}`,
    expiresAt: now + 300_000,
    renewAt: now + 240_000,
    refreshToken: `refresh-${number}`,
    idToken: undefined,
    user: { sub: session.split(' ')[0]! },
  };
}

/** One tab: a keeper and the events of its session. */
export interface Tab {
  keeper: TokenKeeper;
  events: SessionEvent[];
}

/**
 * Tabs of one browser, on the real Web Locks and BroadcastChannels of Node.js, and a service with strict rotation:
 * a refresh token that is used twice ends the session.
 */
export function openTabs(t: TestContext) {
  const clock = fakeClock();
  const name = `tabs ${crypto.randomUUID()}`;
  const tabs: Tab[] = [];
  const service = {
    refreshes: 0,
    current: 1,
    ended: false,
    /** What happens to a request in the place of an answer. */
    fault: undefined as (() => Promise<TokenSet>) | undefined,
  };
  const refresh = async (refreshToken: string, before: TokenSet): Promise<TokenSet> => {
    service.refreshes += 1;
    await new Promise((resolve) => setTimeout(resolve, 5));
    if (service.fault !== undefined) return service.fault();
    if (refreshToken !== `refresh-${service.current}`) service.ended = true;
    if (service.ended) {
      throw new ClientError('refused', 'refused', { status: 400, error: 'invalid_grant' });
    }
    service.current += 1;
    return tokenSet(clock, service.current, before.session);
  };
  t.after(() => {
    for (const { keeper } of tabs) keeper.close();
  });
  const open = (): Tab => {
    const events: SessionEvent[] = [];
    const peers = openBrowserPeers(globalThis as unknown as BrowserWindow, name);
    const keeper = openTokenKeeper(refresh, peers, (event) => events.push(event), clock);
    tabs.push({ keeper, events });
    return { keeper, events };
  };
  /** Opens a tab that logged in, and others that took over its tokens. */
  const openMany = async (count: number): Promise<Tab[]> => {
    const first = open();
    first.keeper.put(tokenSet(clock, service.current));
    const rest = Array.from({ length: count - 1 }, () => open());
    for (const { keeper } of rest) assert.equal(await keeper.join(), 'joined');
    return [first, ...rest];
  };
  return { clock, service, name, open, openMany };
}
