import type { Duplex } from 'node:stream';
import { IdkitError } from '../../core/index.ts';

/** One message of a server: its type, and its content without type and length (PostgreSQL documentation, 55.7). */
export interface Message {
  type: string;
  body: Buffer;
}

/** The largest message that is accepted, in bytes. The server sends at most 128 KiB of WAL in one message. */
const LONGEST = 64 * 1024 * 1024;
/** The number of bytes that are read before they are needed. */
const READ_AHEAD = 1024 * 1024;

/** The fields of an error that the server reported. */
export class ServerError extends Error {
  /** The SQLSTATE, for example `42501`. */
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.name = 'ServerError';
    this.code = code;
  }
}

/** Reads and writes whole messages over an authenticated connection. */
export class MessageStream {
  readonly #stream: Duplex;
  readonly #location: string;
  readonly #silenceMs: number;
  /** Chunks that have arrived and were not read yet. */
  readonly #arrived: Buffer[] = [];
  #arrivedBytes = 0;
  #bytes: Buffer = Buffer.alloc(0);
  #wake = () => {};

  /**
   * @param location the server's name for messages, without secrets
   * @param silenceMs the connection is given up if the server sends nothing for this many milliseconds
   */
  constructor(stream: Duplex, location: string, silenceMs: number) {
    this.#stream = stream;
    this.#location = location;
    this.#silenceMs = silenceMs;
    stream.on('error', () => undefined);
    stream.on('data', (chunk: Buffer) => {
      this.#arrived.push(chunk);
      this.#arrivedBytes += chunk.length;
      if (this.#arrivedBytes >= READ_AHEAD) stream.pause();
      this.#wake();
    });
    stream.on('end', () => this.#wake());
    stream.resume();
  }

  /** Returns the next message. @throws IDKIT_UNREACHABLE if the connection is closed or the server is silent */
  async next(): Promise<Message> {
    for (;;) {
      const message = this.#take();
      if (message !== undefined) return message;
      const chunk = await this.#chunk();
      this.#bytes = this.#bytes.length === 0 ? chunk : Buffer.concat([this.#bytes, chunk]);
    }
  }

  /** Sends a message. Resolves when more may be written. */
  async write(type: string, body: Buffer): Promise<void> {
    const head = Buffer.alloc(5);
    head.write(type, 0, 'latin1');
    head.writeInt32BE(body.length + 4, 1);
    if (this.#stream.destroyed || this.#stream.writableEnded) return;
    if (this.#stream.write(Buffer.concat([head, body]))) return;
    await this.#settle((done) => {
      this.#stream.once('drain', done);
      return () => this.#stream.off('drain', done);
    });
  }

  /** Closes the connection immediately. Idempotent. */
  destroy(): void {
    this.#stream.destroy();
  }

  #take(): Message | undefined {
    const bytes = this.#bytes;
    if (bytes.length < 5) return undefined;
    const length = bytes.readInt32BE(1);
    if (length < 4 || length > LONGEST)
      throw new IdkitError('IDKIT_FAILED', `the server at ${this.#location} sent an invalid message`);
    if (bytes.length < length + 1) return undefined;
    this.#bytes = bytes.subarray(length + 1);
    return { type: String.fromCharCode(bytes[0]!), body: bytes.subarray(5, length + 1) };
  }

  async #chunk(): Promise<Buffer> {
    for (;;) {
      const chunk = this.#arrived.shift();
      if (chunk !== undefined) {
        this.#arrivedBytes -= chunk.length;
        if (this.#arrivedBytes < READ_AHEAD && this.#stream.isPaused()) this.#stream.resume();
        return chunk;
      }
      if (this.#stream.destroyed || this.#stream.readableEnded) throw this.#lost('closed the connection');
      await this.#settle((done) => {
        this.#wake = done;
        return () => {
          this.#wake = () => {};
        };
      });
    }
  }

  /** Waits for an event, the end of the connection, or the limit of silence. */
  async #settle(listen: (done: () => void) => () => void): Promise<void> {
    let forget = () => {};
    let timer: NodeJS.Timeout | undefined;
    let closed = () => {};
    try {
      await new Promise<void>((resolve, reject) => {
        forget = listen(resolve);
        closed = () => reject(this.#lost('closed the connection'));
        this.#stream.once('close', closed);
        timer = setTimeout(() => {
          this.#stream.destroy();
          reject(this.#lost(`sent nothing for ${Math.round(this.#silenceMs / 1000)} s`));
        }, this.#silenceMs);
      });
    } finally {
      forget();
      this.#stream.off('close', closed);
      clearTimeout(timer);
    }
  }

  #lost(what: string): IdkitError {
    return new IdkitError('IDKIT_UNREACHABLE', `the database server at ${this.#location} ${what}`);
  }
}

/** Parses an ErrorResponse. */
export function readServerError(body: Buffer): ServerError {
  const fields = new Map<string, string>();
  for (const field of body.toString('utf8').split('\0'))
    if (field !== '') fields.set(field[0]!, field.slice(1));
  return new ServerError(fields.get('C') ?? 'XX000', fields.get('M') ?? 'unknown error');
}

/** Parses a DataRow whose columns are text. */
export function readRow(body: Buffer): readonly (string | null)[] {
  const columns: (string | null)[] = [];
  let at = 2;
  for (let left = body.readInt16BE(0); left > 0; left--) {
    const length = body.readInt32BE(at);
    at += 4;
    columns.push(length < 0 ? null : body.toString('utf8', at, at + length));
    at += Math.max(length, 0);
  }
  return columns;
}
