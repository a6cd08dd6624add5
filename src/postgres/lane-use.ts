import type { Lane } from './primary.ts';

/** Counts how the connections of one lane are used. */
class LaneUse {
  inUse = 0;
  waiting = 0;
  /** Number of callers that received no connection in time. */
  refused = 0;
  /** Sum of the waiting times in seconds. */
  waitedSeconds = 0;

  /** Waits for a connection. The caller must call `end` when it does not use the connection any more. */
  async waitFor<T>(connecting: Promise<T>): Promise<T> {
    const since = performance.now();
    this.waiting++;
    try {
      const connection = await connecting;
      this.inUse++;
      return connection;
    } catch (error) {
      this.refused++;
      throw error;
    } finally {
      this.waiting--;
      this.waitedSeconds += (performance.now() - since) / 1000;
    }
  }

  end(): void {
    this.inUse--;
  }
}

export function newLaneUses(): Readonly<Record<Lane, LaneUse>> {
  return { requests: new LaneUse(), reads: new LaneUse(), changes: new LaneUse() };
}
