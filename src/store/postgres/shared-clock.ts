import type { Clock } from '../../core/index.ts';

/**
 * The clock of the database server, which all services of a database share. It is the machine's clock plus the
 * difference from the server's clock, so that all machines agree on what has expired.
 */
export class SharedClock implements Clock {
  readonly #machine: Clock;
  /** Offset of the server's clock from this machine's clock, in milliseconds. */
  #ahead = 0;

  constructor(machine: Clock) {
    this.#machine = machine;
  }

  now(): number {
    return Math.round(this.#machine.now() + this.#ahead);
  }

  /** Starts a measurement before a request. Pass the server's time from the response to the returned function. */
  measure(): (serverMilliseconds: number) => void {
    const sent = this.#machine.now();
    return (server) => this.#learn(server, sent, this.#machine.now());
  }

  /**
   * Corrects the offset. The server read its clock at some time between the request and the response. If the current
   * offset is consistent with that, it stays, so that a slow response does not move the clock. Otherwise it changes by
   * the smallest amount that makes it consistent.
   */
  #learn(server: number, sent: number, received: number): void {
    // This machine's clock was set back during the request.
    if (received < sent) return;
    const least = server - received;
    const most = server - sent;
    this.#ahead = Math.min(Math.max(this.#ahead, least), most);
  }
}
