const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/**
 * The address of a service whose word is taken for who somebody is: https, or this machine.
 *
 * @param allowHttp plain http to any machine, for a network that nobody else is in
 * @throws TypeError naming the address
 */
export function parseServiceUrl(address: string, allowHttp: boolean | undefined): URL {
  if (!URL.canParse(address)) throw new TypeError(`${address} is no URL`);
  const url = new URL(address);
  if (url.protocol === 'https:') return url;
  if (url.protocol === 'http:' && (allowHttp === true || LOOPBACK.test(url.hostname))) return url;
  throw new TypeError(`${address} must be https`);
}
