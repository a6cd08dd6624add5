/** If a host does not respond within this many milliseconds, the next one is tried too. */
const HEAD_START_MS = 500;
/** Pause in milliseconds before a host that failed is tried again. */
const AGAIN_MS = 200;

/**
 * Returns the result of the first host that responds. It tries the hosts in order, and begins with the next one as soon
 * as a host fails or is silent for too long. While any host is still silent, it retries the hosts that failed: in a
 * cluster, the first server may be frozen and the second one about to be promoted.
 *
 * @param ask must fail by itself eventually; `signal` is aborted when another host has responded
 * @throws an array of all hosts' errors, in the order of the hosts
 */
export function findFirst<Host, Found>(
  hosts: readonly Host[],
  ask: (host: Host, signal: AbortSignal) => Promise<Found>,
): Promise<Found> {
  const { promise, resolve, reject } = Promise.withResolvers<Found>();
  const over = new AbortController();
  const timers = new Set<NodeJS.Timeout>();
  const faults: unknown[] = [];
  let begun = 0;
  let unanswered = hosts.length;

  const finish = () => {
    over.abort();
    for (const timer of timers) clearTimeout(timer);
  };
  const later = (milliseconds: number, work: () => void) => {
    const timer = setTimeout(() => {
      timers.delete(timer);
      work();
    }, milliseconds);
    timers.add(timer);
  };
  const begin = (index: number) => {
    if (index !== begun || index >= hosts.length) return;
    begun++;
    later(HEAD_START_MS, () => begin(index + 1));
    void attempt(index, true);
  };
  const attempt = async (index: number, isFirst: boolean) => {
    try {
      const found = await ask(hosts[index]!, over.signal);
      finish();
      resolve(found);
    } catch (error) {
      if (over.signal.aborted) return;
      faults[index] = error;
      if (isFirst) unanswered--;
      begin(index + 1);
      if (unanswered > 0) later(AGAIN_MS, () => void attempt(index, false));
      else {
        finish();
        reject(faults);
      }
    }
  };

  begin(0);
  return promise;
}
