import { ownVersion } from '../own-version.ts';
import { APPLICATION } from './application.ts';
import { COMPOSE_BASE_URL, renderCompose } from './definition.ts';
import { CADDYFILE, renderNginx } from './proxies.ts';

/** The files of a new container platform except `.env`, and the settings in its idkit.yaml. */
export interface PlatformFiles {
  /** Maps each file's path in the platform directory to its content. */
  files: ReadonlyMap<string, string>;
  /** Maps the dotted name of a setting to its value in YAML. */
  settings: Readonly<Record<string, string>>;
}

/** The private networks in which container engines place containers. The service trusts proxies in them. */
const PRIVATE_NETWORKS = '[10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16]';

const APPLICATIONS =
  '[{ name: hello, health: "http://127.0.0.1:8081/health", protected: "http://127.0.0.1:8081/api" }]';

/** Renders the files that `idkit init --runtime compose` writes. */
export function renderPlatformFiles(choice: {
  service: 'idkit' | 'keycloak';
  proxy: 'caddy' | 'nginx';
}): PlatformFiles {
  const { service, proxy } = choice;
  return {
    files: new Map([
      ['compose.yaml', renderCompose({ service, proxy, version: ownVersion() })],
      proxy === 'caddy' ? ['config/Caddyfile', CADDYFILE] : ['config/nginx.conf', renderNginx(service)],
      ['config/application/server.mjs', APPLICATION],
    ]),
    settings: {
      baseUrl: COMPOSE_BASE_URL,
      database: `postgres://${service}@database/${service}`,
      trustedProxies: PRIVATE_NETWORKS,
      applications: APPLICATIONS,
      // This is the address inside the container. compose.yaml publishes the port only for this machine.
      ...(service === 'idkit' ? { 'listen.managementHost': '0.0.0.0' } : {}),
      ...(proxy === 'caddy' ? {} : { 'compose.proxy': proxy }),
    },
  };
}
