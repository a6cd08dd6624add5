import { IdkitError } from '../../core/index.ts';
import { hostile, printable } from '../faults.ts';
import type { SftpConnection, SftpReply } from './connection.ts';
import { type Attributes, encodeMode, PACKET, STATUS } from './packet.ts';

const OPEN = { read: 1, write: 2, create: 8, exclusive: 32 } as const;
const OWNER_ONLY_FILE = 0o600;
const OWNER_ONLY_DIRECTORY = 0o700;
const FILE_TYPE = 0o170000;

/** A status that is not success. */
export class SftpStatus extends Error {
  override readonly name = 'SftpStatus';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export interface SftpEntry {
  name: string;
  kind: 'file' | 'directory' | 'other';
  size: number;
  /** Unix time in milliseconds. */
  modifiedAt?: number;
}

/** The calls of sftp that idkit needs. Each throws `SftpStatus` if the server refuses. */
export interface Sftp {
  openForReading(path: string): Promise<Buffer>;
  createFile(path: string): Promise<Buffer>;
  close(handle: Buffer): Promise<void>;
  /** Returns undefined at the end of the file. */
  read(handle: Buffer, at: number, length: number): Promise<Buffer | undefined>;
  write(handle: Buffer, at: number, bytes: Uint8Array): Promise<void>;
  /** Syncs a file to the disk. Does nothing if the server does not know how. */
  sync(handle: Buffer): Promise<void>;
  find(path: string): Promise<SftpEntry | undefined>;
  entries(path: string, most: number): Promise<readonly SftpEntry[]>;
  makeDirectory(path: string): Promise<void>;
  removeFile(path: string): Promise<void>;
  removeDirectory(path: string): Promise<void>;
  /** Fails if the new name exists. */
  rename(from: string, to: string): Promise<void>;
  /** Replaces the new name. */
  replace(from: string, to: string): Promise<void>;
  /** The free space of the file system in bytes, or undefined if the server does not report it. */
  freeBytes(path: string): Promise<number | undefined>;
}

/** Speaks sftp over a connection. */
export function createSftp(connection: SftpConnection, label: string): Sftp {
  const { request, extensions } = connection;
  const expectOk = async (reply: Promise<SftpReply>) => {
    const { type, packet } = await reply;
    if (type !== PACKET.status) throw unexpected(label);
    checkStatus(packet.uint32(), packet);
  };
  const expectHandle = async (reply: Promise<SftpReply>) => {
    const { type, packet } = await reply;
    if (type === PACKET.status) checkStatus(packet.uint32(), packet);
    if (type !== PACKET.handle) throw unexpected(label);
    return Buffer.from(packet.bytes());
  };
  const extension = (name: string, ...fields: readonly (string | Uint8Array)[]) =>
    expectOk(request(PACKET.extended, name, ...fields));
  const lstat = async (path: string): Promise<Attributes | undefined> => {
    const { type, packet } = await request(PACKET.lstat, path);
    if (type === PACKET.attributes) return packet.attributes();
    if (type !== PACKET.status) throw unexpected(label);
    const status = packet.uint32();
    if (status === STATUS.noSuchFile) return undefined;
    checkStatus(status, packet);
    throw unexpected(label);
  };
  return {
    openForReading: (path) => expectHandle(request(PACKET.open, path, OPEN.read, 0)),
    createFile: (path) =>
      expectHandle(
        request(PACKET.open, path, OPEN.write | OPEN.create | OPEN.exclusive, ...encodeMode(OWNER_ONLY_FILE)),
      ),
    close: (handle) => expectOk(request(PACKET.close, handle)),
    async read(handle, at, length) {
      const { type, packet } = await request(PACKET.read, handle, BigInt(at), length);
      if (type === PACKET.data) {
        const bytes = packet.bytes();
        if (bytes.length > length)
          throw hostile(label, 'the sftp server sent more bytes than were requested');
        return bytes;
      }
      if (type !== PACKET.status) throw unexpected(label);
      const status = packet.uint32();
      if (status === STATUS.endOfFile) return undefined;
      checkStatus(status, packet);
      throw unexpected(label);
    },
    write: (handle, at, bytes) => expectOk(request(PACKET.write, handle, BigInt(at), bytes)),
    async sync(handle) {
      if (extensions.has('fsync@openssh.com')) await extension('fsync@openssh.com', handle);
    },
    async find(path) {
      const found = await lstat(path);
      return found === undefined ? undefined : toEntry(path.slice(path.lastIndexOf('/') + 1), found);
    },
    entries: (path, most) => readDirectory(connection, label, path, most),
    makeDirectory: (path) => expectOk(request(PACKET.mkdir, path, ...encodeMode(OWNER_ONLY_DIRECTORY))),
    removeFile: (path) => expectOk(request(PACKET.remove, path)),
    removeDirectory: (path) => expectOk(request(PACKET.rmdir, path)),
    rename: (from, to) => expectOk(request(PACKET.rename, from, to)),
    async replace(from, to) {
      if (!extensions.has('posix-rename@openssh.com'))
        throw new IdkitError('IDKIT_VERSION', `${label}: the sftp server cannot replace a file atomically`);
      await extension('posix-rename@openssh.com', from, to);
    },
    async freeBytes(path) {
      if (!extensions.has('statvfs@openssh.com')) return undefined;
      const { type, packet } = await request(PACKET.extended, 'statvfs@openssh.com', path);
      if (type !== PACKET.extendedReply) return undefined;
      packet.uint64();
      const fragment = packet.uint64();
      packet.uint64();
      packet.uint64();
      return fragment * packet.uint64();
    },
  };
}

async function readDirectory(
  { request }: SftpConnection,
  label: string,
  path: string,
  most: number,
): Promise<readonly SftpEntry[]> {
  const opened = await request(PACKET.opendir, path);
  if (opened.type === PACKET.status) {
    const status = opened.packet.uint32();
    if (status === STATUS.noSuchFile) return [];
    checkStatus(status, opened.packet);
  }
  if (opened.type !== PACKET.handle) throw unexpected(label);
  const handle = Buffer.from(opened.packet.bytes());
  const entries: SftpEntry[] = [];
  for (;;) {
    const { type, packet } = await request(PACKET.readdir, handle);
    if (type === PACKET.status) {
      const status = packet.uint32();
      if (status !== STATUS.endOfFile) checkStatus(status, packet);
      break;
    }
    if (type !== PACKET.name) throw unexpected(label);
    const count = packet.uint32();
    if (count === 0) throw hostile(label, 'the sftp server sent an empty part of a directory');
    for (let left = count; left > 0; left -= 1) {
      const name = packet.text();
      packet.bytes();
      entries.push(toEntry(name, packet.attributes()));
      if (entries.length > most) throw hostile(label, `a directory has more than ${most} entries`);
    }
  }
  await request(PACKET.close, handle);
  return entries;
}

function toEntry(name: string, { mode = 0, size = 0, modifiedAt }: Attributes): SftpEntry {
  const type = mode & FILE_TYPE;
  const kind = type === 0o100000 ? 'file' : type === 0o040000 ? 'directory' : 'other';
  return { name, size, kind, ...(modifiedAt === undefined ? {} : { modifiedAt }) };
}

function checkStatus(status: number, packet: { text(): string; atEnd: boolean }): void {
  if (status === STATUS.ok) return;
  throw new SftpStatus(status, packet.atEnd ? `status ${status}` : printable(packet.text(), 200));
}

function unexpected(label: string): IdkitError {
  return hostile(label, 'the sftp server sent an unexpected response');
}
