import type { Clock } from '../../core/index.ts';

/**
 * The clock of the database's server, for all services that share the database: this machine's clock, corrected by how
 * far it is from the server's. Machines whose clocks differ so agree about what has expired.
 */
export class SharedClock implements Clock {
  readonly #machine: Clock;
  /** Milliseconds that the server is ahead of this machine. */
  #ahead = 0;

  constructor(machine: Clock) {
    this.#machine = machine;
  }

  now(): number {
    return Math.round(this.#machine.now() + this.#ahead);
  }

  /** What is to be told with the server's answer. */
  ask(): (serverMilliseconds: number) => void {
    const asked = this.#machine.now();
    return (server) => this.#learn(server, asked, this.#machine.now());
  }

  /**
   * The server's time lay between question and answer. A correction that fits is kept, so that no slow answer moves the
   * clock; one that does not fit is moved by as little as makes it fit.
   */
  #learn(server: number, asked: number, answered: number): void {
    // This machine's clock was set back meanwhile.
    if (answered < asked) return;
    const least = server - answered;
    const most = server - asked;
    this.#ahead = Math.min(Math.max(this.#ahead, least), most);
  }
}
