import { setTimeout as sleep } from 'node:timers/promises';
import type { Connections } from '../../postgres/driver.ts';
import { isUnreachable } from '../../postgres/index.ts';
import type { Verbs } from '../verbs/verbs.ts';
import { prepared, rowsOf } from './prepared.ts';
import { readAgain } from './reads.ts';

type Call = Verbs['rotate']['in'];

/** Milliseconds between two attempts: while the database is away, and at most while it answers. */
const BETWEEN_MS = 100;
const LONGEST_MS = 1_000;
/**
 * Milliseconds in which a statement that nobody listens to any more may still take effect: longer than it may run, and
 * than most commits wait for a standby.
 */
const KEPT_MS = 120_000;

/**
 * Rotations that were sent and whose callers were told that the service is not available: nobody knows whether they
 * were done, or will be. The token that came of such a rotation was never given away, so it is taken back whenever it
 * shows: the client's own token stays good, and its next attempt is no reuse.
 */
export class UnansweredRotations {
  readonly #connections: Connections;
  /** By `next`, which no two calls share. */
  readonly #calls = new Map<string, { call: Call; until: number }>();
  #settling = false;
  #closed = false;

  constructor(connections: Connections) {
    this.#connections = connections;
  }

  /** Remembers a rotation that its caller will never be told of; it is taken back from here on, by itself. */
  add(call: Call): void {
    // What was not for single use is the same whether it was done or not.
    if (!call.single_use) return;
    this.#calls.set(call.next, { call, until: performance.now() + KEPT_MS });
    void this.#settleInTheEnd();
  }

  /** Takes back what is known of these families. @throws IDKIT_UNREACHABLE */
  async settle(families: readonly string[]): Promise<void> {
    if (this.#calls.size === 0) return;
    const asked = new Set(families);
    await this.#takeBack(this.#known().filter(({ id }) => asked.has(id)));
  }

  /** Ends the attempts. */
  close(): void {
    this.#closed = true;
  }

  #known(): Call[] {
    return [...this.#calls.values()].map(({ call }) => call);
  }

  async #settleInTheEnd(): Promise<void> {
    if (this.#settling) return;
    this.#settling = true;
    let pause = BETWEEN_MS;
    while (this.#calls.size > 0 && !this.#closed) {
      try {
        await this.#takeBack(this.#known());
        for (const [next, { until }] of this.#calls) if (performance.now() > until) this.#calls.delete(next);
        pause = Math.min(2 * pause, LONGEST_MS);
      } catch (error) {
        // Any other fault is met by the next call of the family, which has somebody to tell.
        if (!isUnreachable(error)) break;
        pause = BETWEEN_MS;
      }
      if (this.#calls.size > 0) await sleep(pause, undefined, { ref: false });
    }
    this.#settling = false;
  }

  async #takeBack(calls: readonly Call[]): Promise<void> {
    if (calls.length === 0) return;
    const sorted = calls.toSorted((one, other) => (one.id < other.id ? -1 : 1));
    const bytes = (text: string) => Buffer.from(text, 'latin1');
    const query = prepared('family.takeBackAll', {
      ids: sorted.map(({ id }) => id),
      presented: sorted.map(({ presented }) => bytes(presented)),
      next: sorted.map(({ next }) => bytes(next)),
    });
    const rows = await readAgain(this.#connections, (client) => rowsOf(client, query));
    for (const { next } of rows) this.#calls.delete(Buffer.from(next).toString('latin1'));
  }
}
