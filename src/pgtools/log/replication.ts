import { type PostgresAddress, showPostgresAddress } from '../../config/index.ts';
import { IdkitError, type Secret } from '../../core/index.ts';
import { openWire } from '../../postgres/index.ts';
import { type Lsn, parseLsn, showLsn } from './lsn.ts';
import { type Message, MessageStream, readRow, readServerError, type ServerError } from './messages.ts';

/** The client requests a sign of life from the server much more often than this. */
const SILENCE_MS = 60_000;
/** Milliseconds from the Unix epoch to that of Postgres, 2000-01-01. */
const EPOCH_MS = 946_684_800_000;

/** A row of text columns. */
export type TextRow = readonly (string | null)[];

/** What the server sends while it streams its WAL. */
export type LogEvent =
  | {
      kind: 'data';
      /** The position of the first byte. */
      start: Lsn;
      bytes: Buffer;
      /** Everything before this position was on the server's disk when it sent the message. */
      flushed: Lsn;
      /** Unix time in microseconds on the server's clock at which it sent the message. */
      sentAt: number;
    }
  | { kind: 'alive'; flushed: Lsn; sentAt: number }
  | {
      /** The server no longer writes this timeline: another server was promoted, or this one follows it. */
      kind: 'timeline ended';
      next: number;
      /** The position at which the next timeline branches off. */
      at: Lsn;
    };

/** The archive of one base backup: the data directory, or one tablespace. */
export interface BaseArchive {
  /** `base.tar`, or `OID.tar` for a tablespace. */
  name: string;
  /** The tablespace's directory on the server. Absent for the data directory. */
  location?: string;
}

/** What the server sends during a base backup. */
export type BaseEvent =
  | { kind: 'start'; at: Lsn; timeline: number }
  | ({ kind: 'archive' } & BaseArchive)
  | { kind: 'data'; bytes: Buffer }
  | { kind: 'end'; at: Lsn; timeline: number };

/** A connection with the replication protocol (PostgreSQL documentation, 55.4). */
export class Replication {
  readonly #messages: MessageStream;
  /** The server's name for messages, without secrets. */
  readonly location: string;
  /** The number of `server_version_num`, for example 150018. */
  readonly version: number;

  private constructor(messages: MessageStream, location: string, version: number) {
    this.#messages = messages;
    this.location = location;
    this.version = version;
  }

  /**
   * Connects to the server. The connection can run queries on the database of the address, too.
   *
   * @throws ServerError; IDKIT_UNREACHABLE, IDKIT_CREDENTIALS
   */
  static async open(options: {
    address: PostgresAddress;
    password: Secret | undefined;
    applicationName: string;
  }): Promise<Replication> {
    const { address, password, applicationName } = options;
    const { stream, parameters } = await openWire({
      address,
      password,
      // A logical connection also accepts the commands of physical replication. Its line in pg_hba.conf is the one of
      // the database, so the file needs no line for replication.
      startup: {
        user: address.user,
        database: address.database,
        application_name: applicationName,
        replication: 'database',
      },
    });
    const location = showPostgresAddress(address);
    const [, major = '0', minor = '0'] =
      /^(\d+)(?:\.(\d+))?/.exec(parameters.get('server_version') ?? '') ?? [];
    const messages = new MessageStream(stream, location, SILENCE_MS);
    return new Replication(messages, location, Number(major) * 10_000 + Number(minor));
  }

  get major(): number {
    return Math.floor(this.version / 10_000);
  }

  /** Runs a command or a query and returns its rows. @throws ServerError, IDKIT_UNREACHABLE */
  async query(text: string): Promise<readonly TextRow[]> {
    await this.#send(text);
    const rows: TextRow[] = [];
    let fault: ServerError | undefined;
    for (;;) {
      const { type, body } = await this.#next();
      if (type === 'D') rows.push(readRow(body));
      if (type === 'E') fault = readServerError(body);
      if (type !== 'Z') continue;
      if (fault !== undefined) throw fault;
      return rows;
    }
  }

  /** Streams the WAL from `from` on until the timeline or the connection ends. */
  async *streamLog(options: { slot: string; from: Lsn; timeline: number }): AsyncGenerator<LogEvent, void> {
    const { slot, from, timeline } = options;
    await this.#send(`START_REPLICATION SLOT "${slot}" PHYSICAL ${showLsn(from)} TIMELINE ${timeline}`);
    let next: TextRow | undefined;
    for (;;) {
      const { type, body } = await this.#next();
      if (type === 'E') throw readServerError(body);
      if (type === 'd') {
        const event = readLogEvent(body);
        if (event !== undefined) yield event;
      } else if (type === 'c') await this.#messages.write('c', Buffer.alloc(0));
      else if (type === 'D') next = readRow(body);
      else if (type === 'Z') break;
    }
    if (next === undefined)
      throw new IdkitError('IDKIT_UNREACHABLE', `the database server at ${this.location} is being stopped`);
    yield { kind: 'timeline ended', next: Number(next[0]), at: parseLsn(String(next[1])) };
  }

  /**
   * Reports the position before which nothing is needed any more, and requests a sign of life. The slot keeps the WAL
   * after this position.
   */
  async confirm(position: Lsn): Promise<void> {
    const body = Buffer.alloc(34);
    body.write('r', 0, 'latin1');
    for (const at of [1, 9, 17]) body.writeBigInt64BE(position, at);
    body.writeBigInt64BE(BigInt(Date.now() - EPOCH_MS) * 1000n, 25);
    body[33] = 1;
    await this.#messages.write('d', body);
  }

  /** Reads a base backup of the whole cluster, without the WAL that it needs. */
  async *streamBase(label: string): AsyncGenerator<BaseEvent, void> {
    const isTyped = this.major >= 15;
    await this.#send(
      isTyped
        ? `BASE_BACKUP (LABEL '${label}', CHECKPOINT 'fast', WAIT false, TABLESPACE_MAP true, MANIFEST 'no')`
        : `BASE_BACKUP LABEL '${label}' FAST NOWAIT TABLESPACE_MAP`,
    );
    let point: TextRow | undefined;
    const tablespaces: BaseArchive[] = [];
    let results = 0;
    for (;;) {
      const { type, body } = await this.#next();
      if (type === 'E') {
        const fault = readServerError(body);
        throw fault;
      }
      if (type === 'T') results++;
      else if (type === 'D') {
        const row = readRow(body);
        if (results === 2) tablespaces.push(tablespaceOf(row));
        else point = row;
      } else if (type === 'C' && results === 1 && point !== undefined)
        yield { kind: 'start', ...pointOf(point) };
      else if (type === 'H' && !isTyped) {
        const archive = tablespaces.shift();
        if (archive !== undefined) yield { kind: 'archive', ...archive };
      } else if (type === 'd') {
        const event: BaseEvent | undefined = isTyped ? readBaseEvent(body) : { kind: 'data', bytes: body };
        if (event !== undefined) yield event;
      } else if (type === 'Z') break;
      if (type === 'C' && results >= 3 && point !== undefined) {
        yield { kind: 'end', ...pointOf(point) };
        point = undefined;
      }
      if (type === 'C' && results === 1) point = undefined;
    }
  }

  /** Closes the connection. Idempotent. */
  close(): void {
    this.#messages.destroy();
  }

  async #send(text: string): Promise<void> {
    await this.#messages.write('Q', Buffer.from(`${text}\0`));
  }

  async #next(): Promise<Message> {
    return this.#messages.next();
  }
}

function readLogEvent(body: Buffer): LogEvent | undefined {
  const type = String.fromCharCode(body[0]!);
  if (type === 'w') {
    const start = body.readBigInt64BE(1);
    const flushed = body.readBigInt64BE(9);
    return { kind: 'data', start, flushed, sentAt: microseconds(body, 17), bytes: body.subarray(25) };
  }
  if (type === 'k') return { kind: 'alive', flushed: body.readBigInt64BE(1), sentAt: microseconds(body, 9) };
  return undefined;
}

/** Returns the Unix time in microseconds. It is an exact number until the year 2255. */
function microseconds(body: Buffer, at: number): number {
  return Number(body.readBigInt64BE(at)) + EPOCH_MS * 1000;
}

function readBaseEvent(body: Buffer): BaseEvent | undefined {
  const type = String.fromCharCode(body[0]!);
  if (type === 'd') return { kind: 'data', bytes: body.subarray(1) };
  if (type !== 'n') return undefined;
  const [name = '', location = ''] = body.toString('utf8', 1).split('\0');
  return { kind: 'archive', name, ...(location === '' ? {} : { location }) };
}

function pointOf([at, timeline]: TextRow): { at: Lsn; timeline: number } {
  return { at: parseLsn(String(at)), timeline: Number(timeline) };
}

/** Parses a row of the list of tablespaces: its OID, its directory, its size. Both are null for the data directory. */
function tablespaceOf([oid, location]: TextRow): BaseArchive {
  if (oid === null || oid === undefined) return { name: 'base.tar' };
  return { name: `${oid}.tar`, ...(typeof location === 'string' ? { location } : {}) };
}
