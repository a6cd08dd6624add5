import { isIP, isIPv4, isIPv6 } from 'node:net';
import type { Passwords } from '../../crypto/index.ts';
import { isPasswordTooLong } from '../../model/index.ts';
import type { RealmConfiguration } from '../../store/index.ts';
import type { ProtocolContext } from '../context.ts';
import type { EventDraft } from '../events.ts';

/** Maximum length, in characters, of a name or an address that identifies a caller. Longer values are truncated. */
const MOST_CHARACTERS = 255;

/**
 * Returns the context with a password hasher for one caller. A caller with many hashes does not delay the hashes of
 * other callers.
 *
 * @param who `user` is the name that the caller entered, or the id of a known user
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
 * Returns the part of an address that identifies a sender: an IPv4 address, or the /64 network of an IPv6 address.
 * Providers assign such a network to each customer (RFC 6177). A proxy may add a port or a zone, which the result
 * omits.
 */
export function senderOf(address: string): string {
  const [plain = ''] = withoutPort(address.trim()).split('%', 1);
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

/** Returns the eight groups of an IPv6 address (RFC 4291 §2.2). */
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

/** An attempt to log in, through any of the login forms. */
export interface LoginAttempt {
  ctx: ProtocolContext;
  configuration: RealmConfiguration;
  /** The event of the attempt, to which the login adds details about the user. */
  event: EventDraft;
  /** The caller's address, which the brute force counters store. */
  remoteAddress: string;
}

/**
 * Returns the password of a login form, or an empty text if the password is longer than the maximum. The login fails in
 * either case, but a long text would occupy memory while it waits to be hashed.
 */
export function typedPassword(given: string | undefined): string {
  return given === undefined || isPasswordTooLong(given) ? '' : given;
}
