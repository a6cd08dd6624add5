/** The content of config/Caddyfile. The proxy terminates TLS and forwards all requests to the service. */
export const CADDYFILE = `# The reverse proxy: it terminates TLS and forwards all requests to the service.
# SITE and SERVICE come from compose.yaml. Caddy renews certificates by itself and keeps them in a volume.
{
	admin off
	# A container must not change a trust store.
	skip_install_trust
}

https://{$SITE} {
	# Caddy sets X-Forwarded-For, -Proto and -Host. idkit trusts them from the networks in trustedProxies of idkit.yaml.
	# Metrics are for operators, even if metrics.public adds them to the base URL.
	@metrics path /metrics /metrics/*
	respond @metrics 404

	reverse_proxy {$SERVICE} {
		# Clients can set these headers to any value, and Keycloak would trust them.
		header_up -Forwarded
		header_up -X-Forwarded-Port
		header_up -X-Forwarded-Prefix
	}

	header {
		Strict-Transport-Security "max-age=31536000"
		-Server
	}
}
`;

/** Renders config/nginx.conf. The proxy terminates TLS and forwards all requests to the service. */
export function renderNginx(service: string): string {
  return `# The reverse proxy: it terminates TLS and forwards all requests to the service. After a change: idkit down, idkit up.
pid /tmp/nginx.pid;
error_log /dev/stderr warn;

events {}

http {
	access_log /dev/stdout;
	client_body_temp_path /tmp/body;
	proxy_temp_path /tmp/proxy;
	fastcgi_temp_path /tmp/fastcgi;
	uwsgi_temp_path /tmp/uwsgi;
	scgi_temp_path /tmp/scgi;
	server_tokens off;

	server {
		listen 8443 ssl;
		ssl_certificate /etc/nginx/tls/cert.pem;
		ssl_certificate_key /etc/nginx/tls/key.pem;
		ssl_protocols TLSv1.2 TLSv1.3;
		# The limit of the administrative API (limits.adminBodyBytes of idkit.yaml).
		client_max_body_size 64m;
		add_header Strict-Transport-Security "max-age=31536000" always;

		# Metrics are for operators, even if metrics.public adds them to the base URL.
		location ~* ^/metrics(/|$) {
			return 404;
		}

		location / {
			proxy_pass http://${service}:8080;
			proxy_http_version 1.1;
			proxy_set_header Connection "";
			proxy_set_header Host $http_host;
			# idkit trusts these from the networks in trustedProxies of idkit.yaml.
			proxy_set_header X-Forwarded-For $remote_addr;
			proxy_set_header X-Forwarded-Proto $scheme;
			proxy_set_header X-Forwarded-Host $http_host;
			# Clients can set these headers to any value, and Keycloak would trust them.
			proxy_set_header Forwarded "";
			proxy_set_header X-Forwarded-Port "";
			proxy_set_header X-Forwarded-Prefix "";
			# Headers with several cookies are longer than the default buffers.
			proxy_buffer_size 16k;
			proxy_buffers 8 16k;
		}
	}
}
`;
}
