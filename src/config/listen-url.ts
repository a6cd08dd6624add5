/** Where a service listens. */
export interface ListenPlace {
  host: string;
  port: number;
  tls: boolean;
}

/**
 * The URL by which this machine reaches a service that listens there, `http://127.0.0.1:8080`. What listens on every
 * address is reached by loopback; IPv6 addresses stand in brackets (RFC 3986 §3.2.2).
 */
export function listenUrl({ host, port, tls }: ListenPlace): string {
  return `${tls ? 'https' : 'http'}://${hostForThisMachine(host)}:${port}`;
}

function hostForThisMachine(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
}
