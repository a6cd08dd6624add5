import { readFileSync } from 'node:fs';
import { type AddressInfo, isIPv4 } from 'node:net';

/** Counts the connections of a listener that no process has accepted yet. */
export interface AcceptQueue {
  /** Connections that the kernel has established. Their clients may have sent a request. */
  waiting: number;
  /** Connections that the kernel is still establishing: the client has not completed the TCP handshake. */
  arriving: number;
}

/** States in the kernel's table (include/net/tcp_states.h). */
const LISTEN = '0A';
const SYN_RECV = '03';

/** The kernel's tables. The table for IPv4 also contains the IPv4 clients of a listener on all IPv6 addresses. */
const TABLES = { 4: '/proc/net/tcp', 6: '/proc/net/tcp6' } as const;

/** Returns the accept queue of a listener from the kernel's tables, or undefined on a system without them. */
export function readAcceptQueue({ address, port }: AddressInfo): AcceptQueue | undefined {
  const own = isIPv4(address) ? readTable(TABLES[4]) : readTable(TABLES[6]);
  const other = isIPv4(address) ? [] : readTable(TABLES[4]);
  const local = `${hexOf(address)}:${hex(port, 4)}`;
  const listener = own.find((row) => row.state === LISTEN && row.local === local);
  if (listener === undefined) return undefined;
  // A listener on every address accepts connections to any of them, so only the port counts.
  const arriving = [...own, ...other].filter(
    (row) => row.state === SYN_RECV && row.local.endsWith(`:${hex(port, 4)}`),
  );
  return { waiting: listener.receiveQueue, arriving: arriving.length };
}

interface Row {
  local: string;
  state: string;
  /** For a listener, the number of connections that wait to be accepted. */
  receiveQueue: number;
}

/** Parses rows such as `0: 0100007F:1F90 00000000:0000 0A 00000000:00000002 …`, which follow a header line. */
function readTable(file: string): readonly Row[] {
  let text: string;
  try {
    text = readFileSync(file, 'latin1');
  } catch {
    // Only Linux has this file, and a container may hide it.
    return [];
  }
  return text
    .split('\n')
    .slice(1)
    .flatMap((line) => {
      const [, local, , state, queues] = line.trim().split(/\s+/);
      if (local === undefined || state === undefined || queues === undefined) return [];
      return { local, state, receiveQueue: Number.parseInt(queues.split(':')[1] ?? '', 16) };
    });
}

/** Formats an address as the kernel does: in words of 32 bits in the byte order of a little-endian machine. */
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

/** @param address as `getsockname` returns it, with at most one `::`. A zone is ignored. */
function bytesOfIpv6(address: string): number[] {
  const [head = '', tail] = address.replace(/%.*$/s, '').split('::');
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
