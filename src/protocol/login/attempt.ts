import { isIP, isIPv4, isIPv6 } from 'node:net';
import type { Passwords } from '../../crypto/index.ts';
import { isPasswordTooLong } from '../../model/index.ts';
import type { RealmConfiguration } from '../../store/index.ts';
import type { ProtocolContext } from '../context.ts';
import type { EventDraft } from '../events.ts';

/** Characters of an address or a name that tell callers apart; the rest is of somebody's making. */
const MOST_CHARACTERS = 255;

/**
 * The same context with password hashes on behalf of one caller, so that they take turns with those of others.
 *
 * @param who `user` is the name as typed, or the id where it is known
 */
export function onBehalfOf<C extends { passwords: Passwords }>(
  ctx: C,
  who: { realmId: string; address: string; user: string },
): C {
  const caller = {
    realm: who.realmId,
    address: senderOf(who.address),
    user: who.user.slice(0, MOST_CHARACTERS).trim().toLowerCase(),
  };
  return { ...ctx, passwords: ctx.passwords.forCaller(caller) };
}

/**
 * What tells one sender from another by its address: an IPv4 address, or the /64 network of an IPv6 one, because that
 * is what one customer gets (RFC 6177). A proxy may add a port, or a zone.
 */
export function senderOf(address: string): string {
  const plain = withoutPort(address.trim()).split('%', 1)[0]!;
  if (!isIPv6(plain)) return plain.slice(0, MOST_CHARACTERS);
  const groups = groupsOf(plain);
  const mapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  if (mapped)
    return groups
      .slice(6)
      .flatMap((group) => [group >> 8, group & 255])
      .join('.');
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`;
}

function withoutPort(address: string): string {
  if (isIP(address) !== 0) return address;
  const bracketed = /^\[([^\]]+)\](?::\d+)?$/.exec(address)?.[1];
  if (bracketed !== undefined) return bracketed;
  const [host = '', port] = address.split(':');
  return port !== undefined && isIPv4(host) ? host : address;
}

/** The eight groups of an IPv6 address (RFC 4291 §2.2). */
function groupsOf(address: string): readonly number[] {
  const [head = '', tail] = address.split('::');
  const before = parseGroups(head);
  if (tail === undefined) return before;
  const after = parseGroups(tail);
  return [...before, ...new Array<number>(8 - before.length - after.length).fill(0), ...after];
}

function parseGroups(text: string): number[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => {
    if (!group.includes('.')) return [Number.parseInt(group, 16)];
    const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number);
    return [a * 256 + b, c * 256 + d];
  });
}

/** Someone tries to log in, by whatever form: what the proof works with. */
export interface LoginAttempt {
  ctx: ProtocolContext;
  configuration: RealmConfiguration;
  /** Told what is found out about the user. */
  event: EventDraft;
  /** For the brute-force counters. */
  remoteAddress: string;
}

/**
 * A password as a form brings it to a login. One that is longer than any can be is a wrong guess, as an empty one is:
 * it is counted and answered as such, and nobody keeps it until its hash would be due.
 */
export function typedPassword(given: string | undefined): string {
  return given === undefined || isPasswordTooLong(given) ? '' : given;
}
