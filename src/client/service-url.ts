const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/**
 * Parses the address of a service whose tokens are trusted. The address must be https, or http to a loopback address.
 *
 * @param allowHttp accepts plain http to every host; only for a network that no attacker can reach
 * @throws TypeError with the address
 */
export function parseServiceUrl(address: string, allowHttp: boolean | undefined): URL {
  if (!URL.canParse(address)) throw new TypeError(`${address} is not a URL`);
  const url = new URL(address);
  if (url.protocol === 'https:') return url;
  if (url.protocol === 'http:' && (allowHttp === true || LOOPBACK.test(url.hostname))) return url;
  throw new TypeError(`${address} must be an https address`);
}
