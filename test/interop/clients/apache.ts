import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { until } from '../../client/example-realm.ts';
import { freePort } from '../../free-port.ts';
import { makePlace } from '../../journey/idkit.ts';

/** Debian's paths. */
export const APACHE = '/usr/sbin/apache2';
export const MODULES = '/usr/lib/apache2/modules';

/** An Apache server on its own port, whose pages below `/protected/` require a login. */
export interface Apache {
  origin: string;
  /** Starts Apache with these directives of mod_auth_openidc. The server stops when the test ends. */
  start(directives: Readonly<Record<string, string>>): Promise<void>;
}

export async function prepareApache(t: TestContext): Promise<Apache> {
  const root = makePlace(t);
  // If root starts Apache, its workers run as another user, who must be able to read the directory.
  chmodSync(root, 0o755);
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  mkdirSync(join(root, 'pages', 'protected'), { recursive: true });
  writeFileSync(join(root, 'pages', 'index.html'), '<h1>open to all</h1>');
  writeFileSync(join(root, 'pages', 'protected', 'index.html'), '<h1>for users</h1>');
  return {
    origin,
    async start(directives) {
      const modules = [
        'mpm_event',
        'authn_core',
        'authz_core',
        'authz_user',
        'dir',
        'headers',
        'auth_openidc',
      ];
      const configuration = [
        `ServerRoot "${root}"`,
        'ServerName 127.0.0.1',
        `Listen 127.0.0.1:${port}`,
        `PidFile "${root}/pid"`,
        `DefaultRuntimeDir "${root}"`,
        `ErrorLog "${root}/error.log"`,
        ...modules.map((name) => `LoadModule ${name}_module ${MODULES}/mod_${name}.so`),
        'User www-data',
        'Group www-data',
        `DocumentRoot "${root}/pages"`,
        'DirectoryIndex index.html',
        ...Object.entries(directives).map(([name, value]) => `${name} "${value}"`),
        '<Location "/protected/">',
        '  AuthType openid-connect',
        '  Require valid-user',
        '  Header always set X-User expr=%{REMOTE_USER}',
        '  Header always set Cache-Control no-store',
        '</Location>',
      ];
      writeFileSync(join(root, 'apache.conf'), `${configuration.join('\n')}\n`);
      const child = spawn(APACHE, ['-D', 'FOREGROUND', '-f', join(root, 'apache.conf')], {
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let output = '';
      for (const stream of [child.stdout, child.stderr]) {
        stream.on('data', (chunk) => {
          output += chunk;
        });
      }
      const ended = new Promise((resolve) => child.on('close', resolve));
      t.after(async () => {
        child.kill();
        await ended;
      });
      await until(
        () =>
          fetch(origin).then(
            (answer) => answer.ok,
            () => false,
          ),
        () => `apache2 answers; it wrote: ${output}${readLog(root)}`,
      );
    },
  };
}

function readLog(root: string): string {
  try {
    return readFileSync(join(root, 'error.log'), 'utf8');
  } catch {
    return '';
  }
}
