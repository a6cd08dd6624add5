import { type Bench, type Lines, longestWait, measureLarge, ms, type Row } from '../bench.ts';
import { uuidOf } from '../seeds/plan.ts';
import type { Side } from '../side.ts';

/** Number of sessions of the user with many sessions, also in a quick run by a tenth. */
const SESSIONS_OF_USER = 100_000;

/** Counts and lists of sessions. */
export const sessionsRow: Row = {
  name: 'session-count',
  measure: (bench) =>
    measureLarge(bench, 1, async (running, large) => {
      const { calls } = running;
      const { web, rare } = large.seeded.clients;
      const realm = '/admin/realms/rs';
      const deep = Math.floor(large.plan.sessions / 10);
      const time = async (path: string) => {
        const first = await calls.time('GET', `${realm}/${path}`);
        const again = first.ms > 2000 ? first : await calls.time('GET', `${realm}/${path}`);
        return { value: again.ms, detail: `first time ${ms(first.ms)}, status ${first.status}` };
      };
      return {
        'session-count of a client with 1,000 sessions, ms': await time(`clients/${rare}/session-count`),
        'session-count of the client with all others, ms': await time(`clients/${web}/session-count`),
        'client-session-stats, ms': await time('client-session-stats'),
        'sessions of a client: first page, ms': await time(`clients/${web}/user-sessions?max=100`),
        [`sessions of a client: page at offset 10 %, ms`]: await time(
          `clients/${web}/user-sessions?first=${deep}&max=100`,
        ),
        'sessions of one user, ms': await time(`users/${uuidOf('u7')}/sessions`),
      };
    }),
};

/** `/metrics` on the management listener, as Prometheus reads it. */
export const metricsRow: Row = {
  name: 'metrics',
  measure: (bench) =>
    measureLarge(bench, bench.quick ? 1 : 3, async (running, _large, round) => {
      // The service may keep its figures for a few seconds.
      if (round > 0) await new Promise((resolve) => setTimeout(resolve, 16_000));
      const began = performance.now();
      const response = await fetch(`http://127.0.0.1:${running.managementPort}/metrics`);
      const text = await response.text();
      const value = performance.now() - began;
      return { '/metrics, ms': { value, detail: `status ${response.status}, ${text.length} bytes` } };
    }),
};

/** A user with very many sessions: list, end of one, end of all, and the wait of other requests meanwhile. */
export const bigUserRow: Row = {
  name: 'big-user',
  async measure(bench) {
    const count = bench.quick ? SESSIONS_OF_USER / 10 : SESSIONS_OF_USER;
    for (const { large } of bench.sides) await addSessionsOfUser(large, count);
    return measureBigUser(bench);
  },
};

async function addSessionsOfUser(side: Side, count: number): Promise<void> {
  await side.addSessions({
    from: side.plan.sessions + Math.floor(Date.now() / 1000) * 1000,
    count,
    users: 0,
  });
}

function measureBigUser(bench: Bench): Promise<Lines> {
  return measureLarge(bench, 1, async (running) => {
    const { calls, port } = running;
    const user = `/admin/realms/rs/users/${uuidOf('u0')}`;
    let [listed, ended, all] = [0, 0, 0];
    let sessions: { id: string }[] = [];
    let statuses = '';
    const waitForList = await longestWait(port, async () => {
      const answer = await calls.time('GET', `${user}/sessions`, { keep: true });
      listed = answer.ms;
      statuses = String(answer.status);
      if (answer.status === 200) sessions = JSON.parse(answer.text) as { id: string }[];
    });
    const waitForOne = await longestWait(port, async () => {
      const some = sessions[Math.floor(sessions.length / 2)]?.id ?? 'unknown';
      const answer = await calls.time('DELETE', `/admin/realms/rs/sessions/${some}`);
      ended = answer.ms;
      statuses += `, ${answer.status}`;
    });
    const waitForAll = await longestWait(port, async () => {
      const answer = await calls.time('POST', `${user}/logout`);
      all = answer.ms;
      statuses += `, ${answer.status}`;
    });
    const detail = `${sessions.length} sessions, statuses ${statuses}`;
    return {
      'a user with 100,000 sessions: list, ms': { value: listed, detail },
      'a user with 100,000 sessions: end one, ms': { value: ended },
      'a user with 100,000 sessions: end all, ms': { value: all },
      'a user with 100,000 sessions: longest wait of others during the list, ms': { value: waitForList },
      'a user with 100,000 sessions: longest wait of others during the end of one, ms': {
        value: waitForOne,
      },
      'a user with 100,000 sessions: longest wait of others during the end of all, ms': {
        value: waitForAll,
      },
    };
  });
}
