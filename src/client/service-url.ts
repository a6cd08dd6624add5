const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/**
 * Parses the address of a service that decides who a user is: it must use https, or be on this machine.
 *
 * @param allowHttp allows plain http to any machine, for a network that no one else can use
 * @throws TypeError with the address
 */
export function parseServiceUrl(address: string, allowHttp: boolean | undefined): URL {
  if (!URL.canParse(address)) throw new TypeError(`${address} is not a URL`);
  const url = new URL(address);
  if (url.protocol === 'https:') return url;
  if (url.protocol === 'http:' && (allowHttp === true || LOOPBACK.test(url.hostname))) return url;
  throw new TypeError(`${address} must use https`);
}
