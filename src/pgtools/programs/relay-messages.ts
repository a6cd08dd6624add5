import type { Wire } from '../../postgres/index.ts';

/** Codes that a client sends in place of a protocol version to request encryption (PostgreSQL documentation, 55.7). */
const ASKS_FOR_ENCRYPTION = [80_877_103, 80_877_104];
/** The major version of the protocol. It is the upper half of the 32-bit version number. */
const MAJOR = 3;
/** The largest first message that a server accepts, in bytes. */
const LONGEST_START = 10_000;

/** The first message of a client, or as much of it as has arrived. */
export type FirstMessage =
  | { kind: 'more' }
  | { kind: 'encryption'; bytes: number }
  | { kind: 'start'; parameters: Readonly<Record<string, string>> }
  | { kind: 'other' };

/** Reads a client's first message, which either requests encryption or contains the user, the database and settings. */
export function readFirstMessage(bytes: Buffer): FirstMessage {
  if (bytes.length < 8) return { kind: 'more' };
  const length = bytes.readInt32BE(0);
  const code = bytes.readInt32BE(4);
  if (length < 8 || length > LONGEST_START) return { kind: 'other' };
  if (bytes.length < length) return { kind: 'more' };
  if (ASKS_FOR_ENCRYPTION.includes(code)) return { kind: 'encryption', bytes: length };
  if (code >> 16 !== MAJOR) return { kind: 'other' };
  const words = bytes.toString('utf8', 8, length).split('\0');
  const parameters: Record<string, string> = {};
  for (let at = 0; at + 1 < words.length && words[at] !== ''; at += 2)
    parameters[words[at] ?? ''] = words[at + 1] ?? '';
  return { kind: 'start', parameters };
}

/** Returns the messages that a server sends to a client after a successful login. */
export function renderWelcome(wire: Wire): Buffer {
  const accepted = Buffer.alloc(4);
  const key = Buffer.alloc(8);
  key.writeInt32BE(wire.processId, 0);
  key.writeInt32BE(wire.secretKey, 4);
  return Buffer.concat([
    message('R', accepted),
    ...[...wire.parameters].map(([name, value]) => message('S', Buffer.from(`${name}\0${value}\0`))),
    message('K', key),
    message('Z', Buffer.from('I')),
  ]);
}

/** Returns the message that a server sends to a client that it rejects. */
export function renderRefusal(fault: {
  code?: string | undefined;
  message: string;
  detail?: string | undefined;
  hint?: string | undefined;
}): Buffer {
  const fields = { S: 'FATAL', V: 'FATAL', C: fault.code, M: fault.message, D: fault.detail, H: fault.hint };
  const text = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}${value}\0`)
    .join('');
  return message('E', Buffer.from(`${text}\0`));
}

function message(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(type, 0, 'latin1');
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}
