import { readFileSync } from 'node:fs';
import { type AddressInfo, isIPv4 } from 'node:net';

/** Connections of a listener that nobody has accepted yet. */
export interface AcceptQueue {
  /** Completed by the kernel: their clients may have sent a request. */
  waiting: number;
  /** Their clients were answered and have not confirmed it yet. */
  arriving: number;
}

/** States of the kernel's table (include/net/tcp_states.h). */
const LISTEN = '0A';
const SYN_RECV = '03';

/** Reads the kernel's table of connections; undefined on a system without one. */
export function readAcceptQueue({ address, port }: AddressInfo): AcceptQueue | undefined {
  const own = `${hexOf(address)}:${hex(port, 4)}`;
  const lines = readTable(isIPv4(address) ? '/proc/net/tcp' : '/proc/net/tcp6');
  let queue: AcceptQueue | undefined;
  let arriving = 0;
  for (const line of lines) {
    const [, local, , state, sizes] = line.trim().split(/\s+/);
    // A listener on every address takes what comes by any: the port decides.
    if (state === SYN_RECV && local?.endsWith(`:${hex(port, 4)}`)) arriving++;
    if (state === LISTEN && local === own)
      queue = { waiting: Number.parseInt(sizes!.split(':')[1]!, 16), arriving: 0 };
  }
  return queue && { ...queue, arriving };
}

function readTable(file: string): readonly string[] {
  try {
    return readFileSync(file, 'latin1').split('\n');
  } catch {
    // Linux alone has it, and a container may hide it.
    return [];
  }
}

/** As the kernel writes an address: words of 32 bits in the order of a little-endian machine. */
function hexOf(address: string): string {
  const bytes = isIPv4(address) ? address.split('.').map(Number) : bytesOfIpv6(address);
  const words = Array.from({ length: bytes.length / 4 }, (_, index) => bytes.slice(4 * index, 4 * index + 4));
  return words
    .map((word) =>
      word
        .toReversed()
        .map((byte) => hex(byte, 2))
        .join(''),
    )
    .join('');
}

/** @param address as `getsockname` writes it: at most one `::`, no zone that counts here */
function bytesOfIpv6(address: string): number[] {
  const [head = '', tail] = address.split('%', 1)[0]!.split('::');
  const groups = (text: string) =>
    text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));
  const before = groups(head);
  const after = groups(tail ?? '');
  const zeros = Array<number>(8 - before.length - after.length).fill(0);
  return [...before, ...zeros, ...after].flatMap((group) => [group >> 8, group & 0xff]);
}

function hex(value: number, digits: number): string {
  return value.toString(16).toUpperCase().padStart(digits, '0');
}
