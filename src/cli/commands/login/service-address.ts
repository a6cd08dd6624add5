import { IdkitError } from '../../../core/index.ts';

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])(:|\/|$)/;
/** The paths of the console, of the administrative API and of realms, which follow the base URL. */
const KNOWN = /\/(?:admin|realms)(?:\/(?<realm>[^/]+).*)?$/;

/**
 * Returns the base URL of a service, without a trailing slash, from an address as people copy it: that of the service,
 * of its console or of a realm. A host without a scheme is https, or http for this machine.
 *
 * @throws IDKIT_USAGE
 */
export function parseServiceAddress(text: string): { url: string; realm?: string } {
  const full = /^[a-z][a-z0-9+.-]*:\/\//i.test(text)
    ? text
    : `${LOOPBACK.test(text) ? 'http' : 'https'}://${text}`;
  const url = URL.parse(full);
  if (
    url === null ||
    !/^https?:$/.test(url.protocol) ||
    url.username !== '' ||
    url.password !== '' ||
    /\s/.test(text) ||
    !isDecodable(url.pathname)
  ) {
    throw new IdkitError(
      'IDKIT_USAGE',
      'the address of the service must be an http or https URL without credentials',
      { hints: ['for example: idkit login https://login.example.org'] },
    );
  }
  const path = url.pathname.replace(/\/+$/, '');
  const known = KNOWN.exec(path);
  const named = known?.groups?.['realm'];
  return {
    url: `${url.origin}${known === null ? path : path.slice(0, known.index)}`,
    // Below /admin/realms, the realm follows one segment later.
    ...(named === undefined || named === 'realms' ? {} : { realm: decodeURIComponent(named) }),
  };
}

/** Whether the percent-encoded bytes of a path are UTF-8. */
function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}
