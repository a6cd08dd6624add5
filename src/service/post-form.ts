import { lookup } from 'node:dns';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import type { PostForm } from '../protocol/index.ts';

/** Timeout of a call in milliseconds, including its response. */
const TIMEOUT = 5000;

/**
 * Networks that contain no public addresses (RFC 6890, RFC 4193, RFC 4291) or that translate to IPv4 (RFC 8215, RFC
 * 2765).
 */
const PRIVATE: readonly (readonly [network: string, prefix: number, family: 'ipv4' | 'ipv6'])[] = [
  ['0.0.0.0', 8, 'ipv4'],
  ['10.0.0.0', 8, 'ipv4'],
  ['100.64.0.0', 10, 'ipv4'],
  ['127.0.0.0', 8, 'ipv4'],
  ['169.254.0.0', 16, 'ipv4'],
  ['172.16.0.0', 12, 'ipv4'],
  ['192.0.0.0', 24, 'ipv4'],
  ['192.0.2.0', 24, 'ipv4'],
  ['192.88.99.0', 24, 'ipv4'],
  ['192.168.0.0', 16, 'ipv4'],
  ['198.18.0.0', 15, 'ipv4'],
  ['198.51.100.0', 24, 'ipv4'],
  ['203.0.113.0', 24, 'ipv4'],
  ['224.0.0.0', 3, 'ipv4'],
  ['::', 96, 'ipv6'],
  ['::ffff:0:0:0', 96, 'ipv6'],
  ['64:ff9b::', 96, 'ipv6'],
  ['64:ff9b:1::', 48, 'ipv6'],
  ['100::', 64, 'ipv6'],
  ['2001::', 23, 'ipv6'],
  ['2001:db8::', 32, 'ipv6'],
  ['2002::', 16, 'ipv6'],
  ['3fff::', 20, 'ipv6'],
  ['5f00::', 16, 'ipv6'],
  ['fc00::', 7, 'ipv6'],
  ['fe80::', 10, 'ipv6'],
  ['fec0::', 10, 'ipv6'],
  ['ff00::', 8, 'ipv6'],
];

/** The error for a host name that resolves only to addresses that the service may not call. */
class PrivateAddress extends Error {
  override readonly name = 'PrivateAddress';
}

const PRIVATE_HINT = 'to allow it, add the address to outbound.privateAddresses in idkit.yaml';
const AUTHORITY_HINT =
  "start the service with NODE_EXTRA_CA_CERTS set to the file of the certificate's authority";

/** OpenSSL's error codes for a certificate from an unknown authority. */
const UNTRUSTED: ReadonlySet<string> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/**
 * Returns a function that posts a form to a URL that a realm administrator chose. It connects only to public addresses
 * and follows no redirects. It checks the resolved address when it connects, so that the name cannot change its address
 * after the check.
 *
 * @param allowed private addresses or CIDR blocks that the service may call nevertheless
 */
export function openPostForm(allowed: readonly string[]): PostForm {
  const barred = new BlockList();
  for (const [network, prefix, family] of PRIVATE) barred.addSubnet(network, prefix, family);
  const exceptions = blockListOf(allowed);
  const mayCall = (address: string): boolean => {
    const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
    const plain = mapped ?? address;
    const family = isIP(plain) === 6 ? 'ipv6' : 'ipv4';
    return exceptions.check(plain, family) || !barred.check(plain, family);
  };
  const guardedLookup: LookupFunction = (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, []);
      const open = addresses.filter(({ address }) => mayCall(address));
      const [first] = open;
      if (first === undefined)
        return callback(new PrivateAddress(`${hostname} has private addresses only`), []);
      if (options.all === true) callback(null, open);
      else callback(null, first.address, first.family);
    });
  };
  return (url, form) => {
    const target = URL.parse(url);
    if (target === null || !/^https?:$/.test(target.protocol) || target.username !== '')
      return Promise.resolve({ outcome: 'refused', detail: 'the address is not an http or https URL' });
    const host = target.hostname.replace(/^\[|\]$/g, '');
    if (isIP(host) !== 0 && !mayCall(host))
      return Promise.resolve({
        outcome: 'refused',
        detail: `${host} is a private address`,
        hint: PRIVATE_HINT,
      });
    return send(target, new URLSearchParams(form).toString(), guardedLookup);
  };
}

/**
 * The outcome of a call, by the class of the response's status code (RFC 9110 §15). Every other class means `refused`.
 */
const OUTCOMES: Readonly<Record<number, 'delivered' | 'later'>> = { 2: 'delivered', 5: 'later' };

function send(target: URL, body: string, guardedLookup: LookupFunction): ReturnType<PostForm> {
  return new Promise((resolve) => {
    const call = (target.protocol === 'https:' ? httpsRequest : httpRequest)(
      target,
      {
        method: 'POST',
        lookup: guardedLookup,
        agent: false,
        signal: AbortSignal.timeout(TIMEOUT),
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          'content-length': Buffer.byteLength(body),
        },
      },
      (response) => {
        // The body is not needed, and it may be endless.
        response.destroy();
        const status = response.statusCode ?? 0;
        const outcome = OUTCOMES[Math.trunc(status / 100)] ?? 'refused';
        resolve({ outcome, detail: `the client responded with ${status}` });
      },
    );
    call.on('error', (error: NodeJS.ErrnoException) => {
      const barred = error instanceof PrivateAddress;
      const hint = barred ? PRIVATE_HINT : UNTRUSTED.has(error.code ?? '') ? AUTHORITY_HINT : undefined;
      const detail = error.code === 'ABORT_ERR' ? `no response within ${TIMEOUT / 1000} s` : error.message;
      resolve({ outcome: barred ? 'refused' : 'later', detail, ...(hint === undefined ? {} : { hint }) });
    });
    call.end(body);
  });
}

function blockListOf(entries: readonly string[]): BlockList {
  const list = new BlockList();
  for (const entry of entries) {
    const [address = '', prefix] = entry.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return list;
}

/** Returns whether a base URL is on this machine, as is usual during development. */
export function isLoopbackUrl(baseUrl: string): boolean {
  const host = URL.parse(baseUrl)?.hostname ?? '';
  return host === 'localhost' || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host);
}
