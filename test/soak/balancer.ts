import { send } from './requests.ts';

/**
 * Chooses a replica for each request, as a proxy does: only replicas whose `/health/ready` responds with 200. It asks
 * every 250 ms.
 */
export class Balancer {
  readonly #ports = new Map<string, number>();
  readonly #ready = new Set<string>();
  #turn = 0;
  #timer: NodeJS.Timeout;

  constructor() {
    this.#timer = setInterval(() => void this.#check(), 250);
  }

  /** Sets the port of a replica, for example after a restart. It gets requests as soon as it is ready. */
  set(name: string, port: number): void {
    this.#ready.delete(name);
    this.#ports.set(name, port);
  }

  /** Returns the port of a ready replica, each in turn, or undefined if none is ready. */
  next(): number | undefined {
    const names = [...this.#ready];
    const name = names[this.#turn++ % Math.max(1, names.length)];
    return name === undefined ? undefined : this.#ports.get(name);
  }

  /** Returns the ports of all ready replicas. */
  all(): number[] {
    return [...this.#ready].map((name) => this.#ports.get(name)!);
  }

  /** Takes a replica out whose connection was refused or broke. */
  failed(port: number): void {
    for (const [name, its] of this.#ports) if (its === port) this.#ready.delete(name);
  }

  async #check(): Promise<void> {
    for (const [name, port] of this.#ports) {
      const { status } = await send(port, 'GET', '/health/ready', { seconds: 5 });
      if (this.#ports.get(name) !== port) continue;
      if (status === 200) this.#ready.add(name);
      else this.#ready.delete(name);
    }
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
