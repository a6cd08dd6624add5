import { setTimeout as sleep } from 'node:timers/promises';
import { IdkitError } from '../../core/index.ts';
import type { Verbs } from '../verbs/verbs.ts';
import type { Connections } from './connections.ts';
import { readAgain } from './read-again.ts';
import { prepared } from './run-query.ts';

type Call = Verbs['rotate']['in'];

/** Milliseconds between two attempts while the database is away. */
const BETWEEN_MS = 100;

/**
 * Rotations that were sent and whose callers were told that the service is not available: nobody knows whether they
 * were done. The token that came of such a rotation was never given away, so it is taken back: the client's own token
 * stays good, and its next attempt is no reuse.
 */
export class UnansweredRotations {
  readonly #connections: Connections;
  /** By `next`, which no two calls share. */
  readonly #calls = new Map<string, Call>();
  #settling = false;
  #closed = false;

  constructor(connections: Connections) {
    this.#connections = connections;
  }

  /** Remembers a rotation until the database has been asked; this goes on by itself. */
  add(call: Call): void {
    // What was not for single use is the same whether it was done or not.
    if (!call.single_use) return;
    this.#calls.set(call.next, call);
    void this.#settleInTheEnd();
  }

  /** Takes back what is known of these families. @throws IDKIT_UNREACHABLE */
  async settle(families: readonly string[]): Promise<void> {
    if (this.#calls.size === 0) return;
    const asked = new Set(families);
    await this.#takeBack([...this.#calls.values()].filter(({ id }) => asked.has(id)));
  }

  /** Ends the attempts. */
  close(): void {
    this.#closed = true;
  }

  async #settleInTheEnd(): Promise<void> {
    if (this.#settling) return;
    this.#settling = true;
    while (this.#calls.size > 0 && !this.#closed)
      try {
        await this.#takeBack([...this.#calls.values()]);
      } catch (error) {
        // Any other fault is met by the next call of the family, which has somebody to tell.
        if (!(error instanceof IdkitError && error.code === 'IDKIT_UNREACHABLE')) break;
        await sleep(BETWEEN_MS, undefined, { ref: false });
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
    await readAgain(this.#connections, (client) => client.query(query));
    for (const { next } of calls) this.#calls.delete(next);
  }
}
