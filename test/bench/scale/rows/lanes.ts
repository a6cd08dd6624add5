import { setTimeout as pause } from 'node:timers/promises';
import type { LoadResult } from '../../load.ts';
import { load, tryLoad } from '../../measure.ts';
import {
  inRounds,
  longestWait,
  measureLarge,
  ms,
  type Row,
  refresh,
  tryRefresh,
  withServices,
} from '../bench.ts';
import type { AdminCalls } from '../calls.ts';
import { uuidOf } from '../seeds/plan.ts';
import type { Side } from '../side.ts';

/** Twelve administrative reads that can take long, each of another kind. */
function slowReads({ plan, seeded }: Side): string[] {
  const { web, rare } = seeded.clients;
  return [
    'users?search=*xqzvwk*',
    'users?search=*amil*&max=100&first=1000',
    'users/count?search=*mit*',
    'users?q=department:none',
    `users?first=${Math.floor(plan.users * 0.9)}&max=100`,
    'users?max=-1',
    'events?type=VERIFY_EMAIL',
    `events?user=${uuidOf('nobody')}`,
    `clients/${rare}/session-count`,
    'client-session-stats',
    `clients/${web}/user-sessions?first=${Math.floor(plan.sessions / 10)}&max=100`,
    `roles/default-roles-rs/users?first=${Math.floor(plan.users * 0.9)}&max=100`,
  ];
}

/** Tokens at 100/s while twelve slow administrative reads run at all times. */
export const lanesRow: Row = {
  name: 'lanes',
  measure: (bench) =>
    measureLarge(bench, Math.min(2, bench.rounds), async (running, large) => {
      const { calls, port } = running;
      const seconds = Math.max(bench.seconds * 3, 3);
      await refresh(large, port, 2, 100);
      const without = await refresh(large, port, seconds, 100);
      const reads = startReads(calls, slowReads(large));
      await pause(1000);
      const under = await tryRefresh(large, port, seconds, 100);
      const done = await reads.stop();
      const statuses = Object.entries(under.statuses)
        .map(([status, times]) => `${times} × ${status}`)
        .join(', ');
      return {
        'token p99 under twelve slow reads / without': {
          value: under.p99 / without.p99,
          detail: `${ms(under.p99)} over ${ms(without.p99)}; reads: ${done}`,
        },
        'tokens refused under twelve slow reads': {
          value: under.not200,
          detail: `of ${under.requests}${statuses === '' ? '' : `: ${statuses}`}`,
        },
      };
    }),
};

function startReads(calls: AdminCalls, paths: readonly string[]): { stop(): Promise<string> } {
  const ending = new AbortController();
  const statuses: Record<string, number> = {};
  const loops = paths.map(async (path) => {
    while (!ending.signal.aborted) {
      const status = await calls.time('GET', `/admin/realms/rs/${path}`, { signal: ending.signal }).then(
        (answer) => String(answer.status),
        () => 'closed',
      );
      statuses[status] = (statuses[status] ?? 0) + 1;
      if (status !== '200' && status !== 'closed') await pause(200);
    }
  });
  return {
    async stop() {
      ending.abort();
      await Promise.all(loops);
      return Object.entries(statuses)
        .map(([status, times]) => `${times} × ${status}`)
        .join(', ');
    },
  };
}

/** Very many logins by password, sent in one burst. */
export const loginsRow: Row = {
  name: 'logins',
  measure: (bench) =>
    withServices(
      bench,
      ({ small }) => [small],
      (running) =>
        inRounds(bench, 1, async ({ small }) => {
          const { port } = running(small);
          const logins = bench.quick ? 200 : 2000;
          const order = {
            port,
            method: 'POST' as const,
            path: '/realms/rs/protocol/openid-connect/token',
            form: 'grant_type=password&client_id=web&username=user1&password=Correct-Horse-1',
          };
          await load({ ...order, connections: 4, seconds: 1 });
          const sent = { ...order, connections: logins, seconds: 0.001 };
          let burst: LoadResult | undefined;
          const live = await longestWait(port, async () => {
            burst = await tryLoad(sent);
          });
          const refreshes = tryRefresh(small, port, 5, 100);
          await pause(1000);
          await tryLoad(sent);
          const { p999, not200 } = await refreshes;
          const { p50, p99, requests, ...outcome } = burst!;
          const refused = Object.entries(outcome.statuses).map(([status, times]) => `${times} × ${status}`);
          return {
            '2,000 parallel logins: p50, ms': {
              value: p50,
              detail: `p99 ${ms(p99)}, refused ${outcome.not200} of ${requests}${refused.length > 0 ? ` (${refused.join(', ')})` : ''}`,
            },
            'longest wait of others during 2,000 logins: /health/live, ms': { value: live },
            'longest wait of others during 2,000 logins: refresh at 100/s, ms': {
              value: p999,
              detail: `${not200} refused`,
            },
          };
        }),
    ),
};
