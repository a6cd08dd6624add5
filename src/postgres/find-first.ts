/** Milliseconds after which the next host is tried too. */
const HEAD_START_MS = 500;
/** Milliseconds until a host that rejected the connection is tried again while another host has not responded. */
const AGAIN_MS = 200;

/**
 * Tries hosts in order, and starts with the next one as soon as a host fails or is silent for too long. A host that
 * failed is tried again while another host has neither responded nor failed. That happens in a cluster whose first
 * server is frozen and whose second one is about to be promoted.
 *
 *
 * @param ask must fail by itself eventually; `signal` is aborted once another host has responded
 * @throws an array of the errors of all hosts, in their order
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
