import type { Clock } from '../../core/index.ts';

/**
 * The clock of the database server, for all services that share the database. It is the machine's clock, corrected by
 * its difference from the server's, so that all machines agree on what has expired.
 */
export class SharedClock implements Clock {
  readonly #machine: Clock;
  /** Milliseconds by which the server is ahead of this machine. */
  #ahead = 0;

  constructor(machine: Clock) {
    this.#machine = machine;
  }

  now(): number {
    return Math.round(this.#machine.now() + this.#ahead);
  }

  /** Starts a measurement. The caller passes the server's time to the returned function. */
  measure(): (serverMilliseconds: number) => void {
    const sent = this.#machine.now();
    return (server) => this.#learn(server, sent, this.#machine.now());
  }

  /**
   * The server read its clock between the request and the response. If the current correction agrees with that, it
   * stays, so that a slow response does not move the clock. Otherwise it changes by the smallest amount that makes it
   * agree.
   */
  #learn(server: number, sent: number, received: number): void {
    // This machine's clock was set back in the meantime.
    if (received < sent) return;
    const least = server - received;
    const most = server - sent;
    this.#ahead = Math.min(Math.max(this.#ahead, least), most);
  }
}
