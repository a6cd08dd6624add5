export interface ComposeChoice {
  service: 'idkit' | 'keycloak';
  proxy: 'caddy' | 'nginx';
  /** The version of idkit, which is the tag of its image. */
  version: string;
}

/** The base URL of a new container platform. */
export const COMPOSE_BASE_URL = 'https://localhost:8443';

/** Renders compose.yaml without secrets. A comment explains each choice. */
export function renderCompose({ service, proxy, version }: ComposeChoice): string {
  return [
    renderHead(service),
    database(service),
    service === 'idkit' ? idkit(version) : KEYCLOAK,
    proxy === 'caddy' ? caddy(service) : nginx(service),
    application(service),
    `volumes:\n  database:\n${proxy === 'caddy' ? '  caddy-data:\n  caddy-config:\n' : ''}`,
  ].join('\n');
}

function renderHead(service: string): string {
  const own =
    service === 'keycloak'
      ? ' KC_DB_PASSWORD=$IDKIT_DATABASE_PASSWORD KC_BOOTSTRAP_ADMIN_PASSWORD=$IDKIT_ADMIN_PASSWORD'
      : '';
  return `# The containers of this platform. "idkit up" starts them in order: database, service, proxy, applications.
#
# This file contains no secrets. When idkit runs docker or podman, it sets variables without a value from .env.
# Without idkit:
#   set -a; . ./.env; POSTGRES_PASSWORD=$IDKIT_DATABASE_PASSWORD${own}; set +a; docker compose up -d
# Images and ports are variables with defaults. Lines such as HTTPS_PORT=443 in .env change them.
# "idkit down" removes the containers and keeps the volumes with the data.
services:`;
}

const HARDENED = `    security_opt:
      - no-new-privileges:true`;

function database(name: string): string {
  return `  database:
    image: \${DATABASE_IMAGE:-docker.io/library/postgres:17}
    restart: unless-stopped
    environment:
      # The server's administrator. It can log in only inside this container, where it needs no password.
      POSTGRES_USER: postgres
      # The password of the role below: IDKIT_DATABASE_PASSWORD in .env. Postgres uses it only for a new volume. A
      # restore sets it in an existing database.
      POSTGRES_PASSWORD:
    # Creates the role of the service in a new volume. The role is not a superuser. It owns its database, and creates
    # the staged database that a restore loads.
    entrypoint:
      - sh
      - -ec
      - |
        cat > /docker-entrypoint-initdb.d/role.sql <<'END'
        \\getenv password POSTGRES_PASSWORD
        CREATE ROLE ${name} LOGIN CREATEDB NOSUPERUSER NOCREATEROLE PASSWORD :'password';
        CREATE DATABASE ${name} OWNER ${name};
        GRANT pg_read_all_settings TO ${name};
        ALTER ROLE postgres PASSWORD NULL;
        END
        exec docker-entrypoint.sh postgres
    volumes:
      - database:/var/lib/postgresql/data
    # No port is published: the service uses the internal network, and idkit runs psql and pg_dump in this container.
    # Postgres needs time to finish its work before it stops.
    stop_grace_period: 60s
${HARDENED}
`;
}

function idkit(version: string): string {
  return `  idkit:
    # Build this image from idkit's Containerfile (docs/operate/containers.md).
    image: \${SERVICE_IMAGE:-localhost/idkit:${version}}
    restart: unless-stopped
    command: ["serve", "--host", "0.0.0.0", "--port", "8080"]
    environment:
      IDKIT_DATABASE_URL: postgres://idkit@database/idkit
      IDKIT_DATABASE_PASSWORD:
      IDKIT_MASTER_KEY:
      IDKIT_MASTER_KEY_OLD:
      IDKIT_ADMIN_USERNAME:
      IDKIT_ADMIN_PASSWORD:
      IDKIT_SMOKE_CLIENT_SECRET:
    volumes:
      - ./idkit.yaml:/platform/idkit.yaml:ro
      # Realm files that the service imports when it starts. The container's user 10001 must own them.
      # - ./import:/platform/import
    # Only for this machine: idkit's commands use this port, users connect to the proxy.
    # MANAGEMENT_PORT in .env is the port of metrics and detailed health. If it is empty, a free port is used.
    # Containers of this platform use idkit:9000. The proxy does not forward requests to it.
    ports:
      - "127.0.0.1:\${SERVICE_PORT:-8080}:8080"
      - "127.0.0.1:\${MANAGEMENT_PORT}:9000"
    # The service writes only to its database.
    read_only: true
    tmpfs:
      - /platform/data:mode=1777
      - /tmp:mode=1777
    cap_drop:
      - ALL
${HARDENED}
    stop_grace_period: 30s
`;
}

const KEYCLOAK = `  keycloak:
    image: \${SERVICE_IMAGE:-quay.io/keycloak/keycloak:26.7}
    restart: unless-stopped
    command: ["start"]
    environment:
      KC_DB: postgres
      KC_DB_URL: jdbc:postgresql://database/keycloak
      KC_DB_USERNAME: keycloak
      KC_DB_PASSWORD:
      # A single Keycloak. Without this line, all instances with one database form a cluster.
      KC_CACHE: local
      # The public address. The proxy terminates TLS.
      KC_HOSTNAME: \${IDKIT_BASE_URL:-${COMPOSE_BASE_URL}}
      KC_HOSTNAME_BACKCHANNEL_DYNAMIC: "false"
      KC_HTTP_ENABLED: "true"
      KC_PROXY_HEADERS: xforwarded
      KC_HEALTH_ENABLED: "true"
      KC_METRICS_ENABLED: "true"
      KC_BOOTSTRAP_ADMIN_USERNAME: \${IDKIT_ADMIN_USERNAME:-admin}
      KC_BOOTSTRAP_ADMIN_PASSWORD:
    # Only for this machine: idkit's commands use these ports, 9000 for health.
    ports:
      - "127.0.0.1:\${SERVICE_PORT:-8080}:8080"
      - "127.0.0.1:\${MANAGEMENT_PORT:-9000}:9000"
    # Keycloak writes its build to /opt/keycloak when it starts, so its root file system is not read-only.
    cap_drop:
      - ALL
${HARDENED}
    stop_grace_period: 60s
`;

function caddy(service: string): string {
  return `  caddy:
    image: \${PROXY_IMAGE:-docker.io/library/caddy:2}
    restart: unless-stopped
    environment:
      # The host name of the platform. Caddy requests a certificate for a public name, and issues its own for localhost.
      SITE: \${SITE:-localhost}
      SERVICE: ${service}:8080
    volumes:
      - ./config/Caddyfile:/etc/caddy/Caddyfile:ro
      - caddy-data:/data
      - caddy-config:/config
    # A public host name needs HTTPS_PORT=443 and, for its certificate, port 80 too: - "80:80"
    ports:
      - "\${HTTPS_PORT:-8443}:443"
    read_only: true
    cap_drop:
      - ALL
    cap_add:
      - NET_BIND_SERVICE
${HARDENED}
`;
}

function nginx(service: string): string {
  return `  nginx:
    # The certificate and key are tls/cert.pem and tls/key.pem, which backups do not include. For a trial:
    #   mkdir -p tls && openssl req -x509 -newkey rsa:2048 -nodes -days 90 -subj /CN=localhost \\
    #     -addext subjectAltName=DNS:localhost -keyout tls/key.pem -out tls/cert.pem
    image: \${PROXY_IMAGE:-docker.io/library/nginx:1}
    restart: unless-stopped
    volumes:
      - ./config/nginx.conf:/etc/nginx/nginx.conf:ro
      - ./tls:/etc/nginx/tls:ro
    ports:
      - "\${HTTPS_PORT:-8443}:8443"
    # Forwards requests to ${service}, see config/nginx.conf.
    read_only: true
    tmpfs:
      - /tmp:mode=1777
${HARDENED}
`;
}

function application(service: string): string {
  return `  # A sample application. /health is its health; /api needs a valid access token. Replace it with your own.
  hello:
    image: \${APPLICATION_IMAGE:-docker.io/library/node:24-bookworm-slim}
    restart: unless-stopped
    command: ["node", "/application/server.mjs"]
    environment:
      ISSUER: \${IDKIT_BASE_URL:-${COMPOSE_BASE_URL}}/realms/master
      KEYS: http://${service}:8080/realms/master/protocol/openid-connect/certs
    volumes:
      - ./config/application:/application:ro
    ports:
      - "127.0.0.1:\${APPLICATION_PORT:-8081}:3000"
    user: "10001:10001"
    read_only: true
    cap_drop:
      - ALL
${HARDENED}
`;
}
