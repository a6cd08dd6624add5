import { readFileSync } from 'node:fs';
import { type Figure, longestWait, measureLarge, ms, type Row } from '../bench.ts';
import { COMMON_WORD, RARE_WORD, uuidOf } from '../seeds/plan.ts';

/** Pages, searches and counts of users. */
export const usersRow: Row = {
  name: 'users',
  measure: (bench) =>
    measureLarge(bench, 1, async (running, large) => {
      const { calls } = running;
      const { users } = large.plan;
      const deep = Math.floor(users * 0.9);
      const some = Math.floor(users / 3);
      const paths: Record<string, string> = {
        'users: first page': 'users?max=100',
        'users: a rare word': `users?search=${RARE_WORD}`,
        'users: a common word': `users?search=${COMMON_WORD}&max=100`,
        'users: a common word, count': `users/count?search=${COMMON_WORD}`,
        'users: an absent word': 'users?search=xqzvwk',
        'users: a rare infix': `users?search=*${RARE_WORD.slice(2, 9)}*`,
        'users: an absent infix': 'users?search=*xqzvwk*',
        'users: a field of one user': `users?lastName=${RARE_WORD}`,
        'users: an attribute': 'users?q=department:d13&max=100',
        'users: an absent attribute': 'users?q=department:none',
        'users: exact e-mail': `users?email=user${some}@example.test&exact=true`,
        'users: exact user name': `users?username=user${some}&exact=true`,
        'users: page at offset 90 %': `users?first=${deep}&max=100`,
        'users: search page at offset 90 % of the matches': `users?search=${COMMON_WORD}&first=${Math.floor(users * 0.09)}&max=100`,
        'users: count': 'users/count',
        'users: one by its id': `users/${uuidOf('u7')}`,
        'roles: users at offset 90 %': `roles/default-roles-rs/users?first=${deep}&max=100`,
      };
      const figures: Record<string, Figure> = {};
      for (const [line, path] of Object.entries(paths)) {
        const first = await calls.time('GET', `/admin/realms/rs/${path}`);
        const slow = first.ms > 2000;
        const value =
          slow || first.status !== 200 ? first.ms : await calls.median(`/admin/realms/rs/${path}`, 5);
        figures[`${line}, ms`] = {
          value,
          detail: first.status === 200 ? `first time ${ms(first.ms)}` : `status ${first.status}`,
        };
      }
      return figures;
    }),
};

/** One list of all users: its rate, and the memory of the service and the wait of others meanwhile. */
export const streamRow: Row = {
  name: 'stream',
  measure: (bench) =>
    measureLarge(bench, 1, async (running, large) => {
      const { calls, pid, port } = running;
      const { users } = large.plan;
      await calls.send('GET', '/admin/realms/rs/users?max=10000');
      const idle = resident(pid);
      let most = idle;
      const timer = setInterval(() => {
        most = Math.max(most, resident(pid));
      }, 50);
      let listed = { ms: Number.NaN, bytes: 0, status: 0 };
      const wait = await longestWait(port, async () => {
        listed = await calls.time('GET', '/admin/realms/rs/users?max=-1');
      });
      clearInterval(timer);
      const outcome = `${(listed.bytes / 1e6).toFixed(0)} MB in ${(listed.ms / 1000).toFixed(1)} s, status ${listed.status}`;
      return {
        'all users in one list, users/s': {
          value: listed.status === 200 ? (users * 1000) / listed.ms : 0,
          detail: outcome,
        },
        'all users in one list, MB above idle': {
          value: most - idle,
          detail: `idle ${Math.round(idle)} MB`,
        },
        'all users in one list, longest wait of another request, ms': { value: wait },
      };
    }),
};

/** Returns the resident memory of a process in MB. */
export function resident(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1024;
}
