import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { IdkitError, systemErrorCode } from '../../core/index.ts';
import { hostile, printable, unreachable } from '../faults.ts';
import { withoutSecrets } from '../program-environment.ts';
import { encode, PACKET, PacketReader } from './packet.ts';

/** Maximum size in bytes of a packet. OpenSSH sends at most 256 KiB. */
const MOST_PACKET_BYTES = 512 * 1024;
/** Maximum size in bytes of the error output that is kept. */
const MOST_ERROR_BYTES = 4096;

export interface SshPlace {
  user?: string;
  host: string;
  port?: number;
}

export interface SftpReply {
  type: number;
  packet: PacketReader;
}

/** One ssh process that runs sftp on the other machine. Requests may be sent in parallel. */
export interface SftpConnection {
  /** Names of the extensions that the server supports. */
  readonly extensions: ReadonlySet<string>;
  request(type: number, ...fields: readonly (number | bigint | string | Uint8Array)[]): Promise<SftpReply>;
  /** Whether the connection has ended. */
  readonly isClosed: boolean;
  close(): Promise<void>;
}

interface Waiting {
  resolve(reply: SftpReply): void;
  reject(error: unknown): void;
}

/**
 * Connects with the ssh of the operator, so its configuration, keys, agent and known hosts apply. ssh never prompts. A
 * connection that does not respond for `stallMilliseconds` while requests wait is closed.
 *
 * @throws IDKIT_VERSION without ssh; IDKIT_CREDENTIALS; IDKIT_UNREACHABLE
 */
export async function connectSftp(
  place: SshPlace,
  options: {
    label: string;
    stallMilliseconds: number;
    env: Readonly<Record<string, string | undefined>>;
    signal?: AbortSignal | undefined;
  },
): Promise<SftpConnection> {
  const { label, stallMilliseconds } = options;
  const child = spawn('ssh', sshArguments(place), {
    env: withoutSecrets(options.env),
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const waiting = new Map<number, Waiting>();
  let errors = '';
  let nextId = 1;
  let ended: unknown;
  let lastByte = performance.now();
  let version: Waiting | undefined;

  const end = (error: unknown) => {
    if (ended !== undefined) return;
    ended = error;
    clearInterval(watch);
    child.kill('SIGKILL');
    version?.reject(error);
    for (const one of waiting.values()) one.reject(error);
    waiting.clear();
  };
  // Without the interval, a server that stops responding would hold the procedure for ever.
  const watch = setInterval(
    () => {
      if (waiting.size + (version === undefined ? 0 : 1) === 0) lastByte = performance.now();
      else if (performance.now() - lastByte > stallMilliseconds)
        end(
          unreachable(label, `the sftp server did not respond for ${Math.round(stallMilliseconds / 1000)} s`),
        );
    },
    Math.min(1000, stallMilliseconds),
  );
  watch.unref();
  child.stdin.on('error', () => {});
  child.stderr.on('data', (chunk: Buffer) => {
    errors = `${errors}${chunk.toString('utf8')}`.slice(-MOST_ERROR_BYTES);
  });
  child.on('error', (error) => end(spawnFault(label, error)));
  child.on('close', (code, signal) => end(closeFault(label, errors, code ?? signal)));
  readPackets(child, label, (type, bytes) => {
    lastByte = performance.now();
    const packet = new PacketReader(label, bytes);
    if (type === PACKET.version) {
      version?.resolve({ type, packet });
      version = undefined;
      return;
    }
    const id = packet.uint32();
    const one = waiting.get(id);
    if (one === undefined) throw hostile(label, 'the sftp server responded to a request that was not sent');
    waiting.delete(id);
    one.resolve({ type, packet });
  }).catch(end);

  const send = (type: number, payload: Buffer) => {
    const head = Buffer.alloc(5);
    head.writeUInt32BE(payload.length + 1);
    head[4] = type;
    child.stdin.write(Buffer.concat([head, payload]));
  };
  const greeting = new Promise<SftpReply>((resolve, reject) => {
    version = { resolve, reject };
  });
  send(PACKET.init, encode(3));
  const stop = () => end(options.signal?.reason);
  options.signal?.addEventListener('abort', stop, { once: true });
  let extensions: ReadonlySet<string>;
  try {
    extensions = readVersion(label, await greeting);
  } catch (error) {
    end(error);
    throw error;
  } finally {
    options.signal?.removeEventListener('abort', stop);
  }
  return {
    extensions,
    get isClosed() {
      return ended !== undefined;
    },
    request(type, ...fields) {
      if (ended !== undefined) return Promise.reject(ended);
      const id = nextId;
      nextId = (nextId + 1) >>> 0;
      if (waiting.size === 0) lastByte = performance.now();
      return new Promise((resolve, reject) => {
        waiting.set(id, { resolve, reject });
        send(type, encode(id, ...fields));
      });
    },
    async close() {
      if (ended !== undefined) return;
      const closed = once(child, 'close');
      child.stdin.end();
      const force = setTimeout(() => child.kill('SIGKILL'), 2000);
      await closed;
      clearTimeout(force);
    },
  };
}

/** The host comes after `--`, and `parseLocation` rejects names that begin with a hyphen. */
function sshArguments({ user, host, port }: SshPlace): readonly string[] {
  return [
    ...[
      '-o',
      'BatchMode=yes',
      '-o',
      'ConnectTimeout=20',
      '-o',
      'ServerAliveInterval=15',
      '-o',
      'ServerAliveCountMax=4',
    ],
    ...['-o', 'ClearAllForwardings=yes', '-o', 'RequestTTY=no', '-x', '-a'],
    ...(user === undefined ? [] : ['-l', user]),
    ...(port === undefined ? [] : ['-p', String(port)]),
    ...['-s', '--', host, 'sftp'],
  ];
}

function readVersion(label: string, { packet }: SftpReply): ReadonlySet<string> {
  const number = packet.uint32();
  if (number < 3)
    throw new IdkitError(
      'IDKIT_VERSION',
      `${label}: the sftp server has version ${number}, but idkit needs 3`,
    );
  const extensions = new Set<string>();
  while (!packet.atEnd) {
    extensions.add(packet.text());
    packet.bytes();
  }
  return extensions;
}

async function readPackets(
  child: ChildProcessWithoutNullStreams,
  label: string,
  receive: (type: number, bytes: Buffer) => void,
): Promise<void> {
  let held: Buffer[] = [];
  let size = 0;
  for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
    held.push(chunk);
    size += chunk.length;
    while (size >= 5) {
      const all = held.length === 1 && held[0] !== undefined ? held[0] : Buffer.concat(held);
      held = [all];
      const length = all.readUInt32BE();
      if (length < 1 || length > MOST_PACKET_BYTES)
        throw hostile(label, 'its output is not sftp; a login script there may print text');
      if (all.length < length + 4) break;
      receive(all[4] ?? 0, all.subarray(5, length + 4));
      held = [all.subarray(length + 4)];
      size = all.length - length - 4;
    }
  }
}

function spawnFault(label: string, error: unknown): IdkitError {
  const missing = systemErrorCode(error) === 'ENOENT';
  return new IdkitError(
    'IDKIT_VERSION',
    `${label}: the program ssh ${missing ? 'is not installed' : 'cannot be started'}`,
    {
      hints: ['install the OpenSSH client'],
      cause: error,
    },
  );
}

function closeFault(label: string, errors: string, code: number | string | null): IdkitError {
  const lines = errors
    .trim()
    .split('\n')
    .filter((line) => !line.startsWith('Warning: Permanently added'));
  const text =
    lines.length === 0 || lines[0] === ''
      ? `ssh ended with ${code}`
      : printable(lines.slice(-2).join('; '), 300);
  if (/permission denied|too many authentication failures|no more authentication methods/i.test(errors))
    return new IdkitError('IDKIT_CREDENTIALS', `${label}: ssh was not allowed in: ${text}`, {
      hints: [
        'idkit never types passwords: set up a key for this user, and try ssh -o BatchMode=yes HOST true',
      ],
    });
  if (/host key verification failed|remote host identification has changed/i.test(errors))
    return new IdkitError(
      'IDKIT_CREDENTIALS',
      `${label}: the key of the host is not known or has changed: ${text}`,
      {
        hints: ['connect once with ssh and compare the fingerprint'],
      },
    );
  if (/subsystem request failed/i.test(errors))
    return new IdkitError('IDKIT_VERSION', `${label}: the host offers no sftp: ${text}`, {
      hints: ['enable it in sshd_config: Subsystem sftp internal-sftp'],
    });
  return unreachable(label, text);
}
