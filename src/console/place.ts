/**
 * Where this console is served: `{base_url}/admin/{realm}/console/`. Its users log in to that realm and administer
 * it, or every realm where it is `master`.
 */
export interface Place {
  /** {base_url} without a trailing slash. */
  baseUrl: string;
  /** The realm of the login. */
  realm: string;
}

/** @throws Error where the page was opened at another path */
export function readPlace(address: URL): Place {
  const match = /^(.*)\/admin\/([^/]+)\/console\/?$/.exec(address.pathname);
  if (match === null) throw new Error(`the console cannot be served at ${address.pathname}`);
  return { baseUrl: `${address.origin}${match[1]}`, realm: decodeURIComponent(match[2]!) };
}
