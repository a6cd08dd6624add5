export interface ListenPlace {
  host: string;
  port: number;
  tls: boolean;
}

/**
 * Returns the URL at which programs on this machine reach a service, such as `http://127.0.0.1:8080`. If the service
 * listens on all addresses, the URL has the loopback address. IPv6 addresses are in brackets (RFC 3986 §3.2.2).
 */
export function listenUrl({ host, port, tls }: ListenPlace): string {
  return `${tls ? 'https' : 'http'}://${hostForThisMachine(host)}:${port}`;
}

function hostForThisMachine(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
}
