/** config/Caddyfile: TLS ends here, and everything goes on to the service. */
export const CADDYFILE = `# The reverse proxy: it ends TLS and leads everything to the service.
# SITE and SERVICE come from compose.yaml. Caddy renews certificates by itself and keeps them in a volume.
{
	admin off
	# Nobody's trust store is changed from inside a container.
	skip_install_trust
}

https://{$SITE} {
	# Caddy sets X-Forwarded-For, -Proto and -Host; idkit believes them from the networks in trustedProxies of idkit.yaml.
	# Figures are for operators, even where metrics.public has them on the base URL.
	@metrics path /metrics /metrics/*
	respond @metrics 404

	reverse_proxy {$SERVICE} {
		# What else a client may say of its way here nobody has checked, and Keycloak would believe it.
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

/** config/nginx.conf, the same with nginx. */
export function renderNginx(service: string): string {
  return `# The reverse proxy: it ends TLS and leads everything to the service. After a change: idkit down, idkit up.
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
		# As much as the administrative API takes (limits.adminBodyBytes of idkit.yaml).
		client_max_body_size 64m;
		add_header Strict-Transport-Security "max-age=31536000" always;

		# Figures are for operators, even where metrics.public has them on the base URL.
		location ~* ^/metrics(/|$) {
			return 404;
		}

		location / {
			proxy_pass http://${service}:8080;
			proxy_http_version 1.1;
			proxy_set_header Connection "";
			proxy_set_header Host $http_host;
			# idkit believes these from the networks in trustedProxies of idkit.yaml.
			proxy_set_header X-Forwarded-For $remote_addr;
			proxy_set_header X-Forwarded-Proto $scheme;
			proxy_set_header X-Forwarded-Host $http_host;
			# What else a client may say of its way here nobody has checked, and Keycloak would believe it.
			proxy_set_header Forwarded "";
			proxy_set_header X-Forwarded-Port "";
			proxy_set_header X-Forwarded-Prefix "";
			# Headers with several cookies are longer than nginx expects.
			proxy_buffer_size 16k;
			proxy_buffers 8 16k;
		}
	}
}
`;
}
