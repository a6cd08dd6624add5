const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/** Whether a host name of a URL is this machine. */
export function isLoopbackHost(hostname: string): boolean {
  return LOOPBACK.test(hostname);
}

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
  if (url.protocol === 'http:' && (allowHttp === true || isLoopbackHost(url.hostname))) return url;
  throw new TypeError(`${address} must be an https address`);
}
