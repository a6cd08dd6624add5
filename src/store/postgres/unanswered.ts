import { setTimeout as sleep } from 'node:timers/promises';
import type { Connections } from '../../postgres/driver.ts';
import { isUnreachable } from '../../postgres/index.ts';
import type { Verbs } from '../verbs/verbs.ts';
import { prepared, rowsOf } from './prepared.ts';
import { readAgain } from './reads.ts';

type Call = Verbs['rotate']['in'];

/**
 * Pause in milliseconds between two attempts while the database is unavailable. Also the first pause while it is
 * available.
 */
const BETWEEN_MS = 100;
/** Longest pause in milliseconds while the database is available. Each pause is twice as long as the previous one. */
const LONGEST_MS = 1_000;
/**
 * Time in milliseconds during which a statement can still take effect although nobody waits for its result. It exceeds
 * the statement timeout and the time that most commits wait for a standby.
 */
const KEPT_MS = 120_000;

/**
 * Rotations with an unknown outcome. Their callers received the error that the service is unavailable, and no client
 * received the new token. The store therefore undoes each of them if it takes effect. The token that the client holds
 * stays valid, so the next refresh with it does not count as reuse.
 */
export class UnansweredRotations {
  readonly #connections: Connections;
  /** Keyed by `next`, which no two calls share. */
  readonly #calls = new Map<string, { call: Call; until: number }>();
  #settling = false;
  #closed = false;

  constructor(connections: Connections) {
    this.#connections = connections;
  }

  /** Remembers a rotation whose outcome is unknown, and undoes it in the background if it takes effect. */
  add(call: Call): void {
    // If tokens may be used again, it does not matter whether the rotation took effect.
    if (!call.single_use) return;
    this.#calls.set(call.next, { call, until: performance.now() + KEPT_MS });
    void this.#settleInTheEnd();
  }

  /**
   * Undoes the remembered rotations of these token families.
   *
   * @throws IDKIT_UNREACHABLE
   */
  async settle(families: readonly string[]): Promise<void> {
    if (this.#calls.size === 0) return;
    const wanted = new Set(families);
    await this.#takeBack(this.#known().filter(({ id }) => wanted.has(id)));
  }

  /** Stops the attempts. */
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
        // Stops at any other error, because the next call of the token family encounters it too and can report it.
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
      session_ids: sorted.map((call) => call.session_id),
      ids: sorted.map(({ id }) => id),
      presented: sorted.map(({ presented }) => bytes(presented)),
      next: sorted.map(({ next }) => bytes(next)),
    });
    const rows = await readAgain(this.#connections, (client) => rowsOf(client, query));
    for (const { next } of rows) this.#calls.delete(Buffer.from(next).toString('latin1'));
  }
}
