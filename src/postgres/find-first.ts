/** Milliseconds for which a host is waited for before the next one is asked too. */
const HEAD_START_MS = 500;
/** Milliseconds until a host that refused is asked again, while another one still says nothing. */
const AGAIN_MS = 200;

/**
 * Asks hosts in order: the next one as soon as one fails, or keeps silent for long. A host that refused is asked again
 * for as long as another one neither answers nor fails: that is a cluster whose first server is frozen and whose
 * second one is about to be promoted.
 *
 * @param ask fails by itself in the end; `signal` is aborted once another host has answered
 * @throws the faults of all hosts, in their order
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
