/** Time in milliseconds for which administration still gives way after the last urgent request has ended. */
const RECENT_MS = 50;

let running = 0;
let endedAt = Number.NEGATIVE_INFINITY;

/**
 * Runs work for which somebody waits: logins, tokens, people's pages. In the meantime, the work of administrators leaves
 * it the processor, and is slower therefore.
 */
export async function urgently<T>(work: () => Promise<T>): Promise<T> {
  running += 1;
  try {
    return await work();
  } finally {
    running -= 1;
    endedAt = performance.now();
  }
}

/** Whether urgent work of this process is in progress or has just ended. */
export function isUrgent(): boolean {
  return running > 0 || performance.now() - endedAt < RECENT_MS;
}
