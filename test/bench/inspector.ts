import type { ChildProcess } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';

/**
 * Timeout in milliseconds for the response of a worker thread. A thread that does not respond in time is asleep and has
 * called no function.
 */
const ASLEEP = 500;

/** V8's call counts for one script since the last snapshot. */
export interface ScriptCoverage {
  url: string;
  functions: readonly {
    functionName: string;
    /** The first range covers the whole function. */
    ranges: readonly { startOffset: number; endOffset: number; count: number }[];
  }[];
}

interface Message {
  id?: number;
  method?: string;
  params?: { sessionId: string; message: string };
  result?: unknown;
  error?: { message: string };
}

/** A connection to the inspector of a Node.js process and of its worker threads. */
export class Inspector {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, { resolve(result: unknown): void; reject(error: Error): void }>();
  /** Maps the session id of each worker thread to a promise that resolves when the thread has begun to count calls. */
  readonly #workers = new Map<string, Promise<void>>();
  #lastId = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener('message', ({ data }) => this.#receive(JSON.parse(String(data))));
  }

  /** Connects to a process that was started with `--inspect`. The process prints the inspector's address to stderr. */
  static async connect(child: ChildProcess): Promise<Inspector> {
    const address = await new Promise<string>((resolve, reject) => {
      let text = '';
      child.stderr?.on('data', (chunk) => {
        text += chunk;
        const found = /ws:\/\/\S+/.exec(text)?.[0];
        if (found !== undefined) resolve(found);
      });
      child.once('exit', (code) => reject(new Error(`the process ended with ${code}: ${text}`)));
    });
    const socket = new WebSocket(address);
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve, { once: true });
      socket.addEventListener('error', () => reject(new Error(`cannot connect to ${address}`)), {
        once: true,
      });
    });
    return new Inspector(socket);
  }

  /** Starts to count function calls in all threads of the process, including threads that it starts later. */
  async startCoverage(): Promise<void> {
    await this.#call('NodeWorker.enable', { waitForDebuggerOnStart: false });
    await this.#startCounting((method, params) => this.#call(method, params));
  }

  /** Returns the counts since the last snapshot and resets them to zero. */
  async takeCoverage(): Promise<readonly ScriptCoverage[]> {
    const method = 'Profiler.takePreciseCoverage';
    const taken = await Promise.all([
      this.#call(method, {}),
      ...[...this.#workers].map(async ([sessionId, ready]) => {
        const answer = ready.then(() => this.#callWorker(sessionId, method, {}));
        return Promise.race([answer, pause(ASLEEP, undefined, { ref: false })]);
      }),
    ]);
    return taken.flatMap((one) => (one as { result: readonly ScriptCoverage[] } | undefined)?.result ?? []);
  }

  close(): void {
    this.#socket.close();
  }

  async #startCounting(call: (method: string, params: object) => Promise<unknown>): Promise<void> {
    await call('Profiler.enable', {});
    await call('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  }

  #call(method: string, params: object): Promise<unknown> {
    return this.#send((id) => ({ id, method, params }));
  }

  /**
   * Calls a method of a worker's inspector. The response arrives as a separate event with the negated id, not as the
   * result of the message to the worker.
   */
  #callWorker(sessionId: string, method: string, params: object): Promise<unknown> {
    return this.#send((id) => ({
      id: -id,
      method: 'NodeWorker.sendMessageToWorker',
      params: { sessionId, message: JSON.stringify({ id, method, params }) },
    }));
  }

  #send(build: (id: number) => object): Promise<unknown> {
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#socket.send(JSON.stringify(build(id)));
    });
  }

  #receive({ id, method, params, result, error }: Message): void {
    if (method === 'NodeWorker.attachedToWorker' && params !== undefined) {
      const { sessionId } = params;
      const counting = this.#startCounting((name, options) => this.#callWorker(sessionId, name, options));
      this.#workers.set(sessionId, counting);
    }
    if (method === 'NodeWorker.detachedFromWorker' && params !== undefined)
      this.#workers.delete(params.sessionId);
    if (method === 'NodeWorker.receivedMessageFromWorker' && params !== undefined)
      this.#receive(JSON.parse(params.message));
    if (id === undefined) return;
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error === undefined) waiting?.resolve(result);
    else waiting?.reject(new Error(error.message));
  }
}
