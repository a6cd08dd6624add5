import type { Balancer } from './balancer.ts';
import { send } from './requests.ts';
import type { Tally } from './tally.ts';

const PAUSE_MS = 250;

/**
 * Reads what administrators read, in loops, and deletes events from time to time. A response other than 200 must be 503
 * or 429 with `Retry-After`.
 */
export function startAdminLoad(
  balancer: Balancer,
  tally: Tally,
  token: string,
  reads: readonly string[],
  { loops, deleteEverySeconds }: { loops: number; deleteEverySeconds: number },
): { stop(): Promise<void> } {
  let running = true;
  const call = async (method: string, path: string, name: string): Promise<void> => {
    const port = balancer.next();
    if (port === undefined) return;
    const reply = await send(port, method, path, { token, seconds: 120, keep: false });
    if (reply.status === 0) {
      balancer.failed(port);
      tally.add('administrative response lost');
    } else if (reply.status < 300) tally.add(name);
    else if ((reply.status === 503 || reply.status === 429) && reply.retryAfter !== undefined)
      tally.add(`${name} put off with ${reply.status}`);
    else tally.fault(`${method} ${path}: ${reply.status}, Retry-After ${reply.retryAfter}`);
  };
  const wait = () => new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  const work = Array.from({ length: loops }, async (_, loop) => {
    for (let turn = loop; running; turn += 1) {
      await call('GET', `/admin/realms/rs/${reads[turn % reads.length]}`, 'administrative reads');
      await wait();
    }
  });
  work.push(
    (async () => {
      for (let last = performance.now(); running; await wait()) {
        if (performance.now() - last < deleteEverySeconds * 1000) continue;
        last = performance.now();
        await call('DELETE', '/admin/realms/es/events', 'events emptied');
      }
    })(),
  );
  return {
    async stop() {
      running = false;
      await Promise.all(work);
    },
  };
}
