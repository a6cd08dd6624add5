import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { initPlatform } from '../../src/config/index.ts';
import { runIdkit } from '../journey/idkit.ts';
import { missingEngine, missingPlugin, pluginEnvironment } from './engines.ts';

interface Service {
  ports?: readonly unknown[];
  read_only?: boolean;
  security_opt?: readonly string[];
  cap_drop?: readonly string[];
  environment?: Record<string, string | null>;
}

const PROGRAMS: Record<string, { command: readonly string[]; missing(): string | undefined }> = {
  'docker-compose': { command: ['docker-compose'], missing: () => missingEngine('docker') },
  'docker compose': { command: ['docker', 'compose'], missing: missingPlugin },
};

for (const [program, { command, missing }] of Object.entries(PROGRAMS))
  for (const service of ['idkit', 'keycloak'] as const)
    for (const proxy of ['caddy', 'nginx'] as const)
      test(`${program} accepts the hardened definition that init writes for ${service} behind ${proxy}, without a warning`, (t) => {
        const why = missing();
        if (why !== undefined) return t.skip(why);
        const dir = mkdtempSync(join(tmpdir(), 'idkit-definition-'));
        t.after(() => rmSync(dir, { recursive: true, force: true }));
        initPlatform(dir, { env: {}, runtime: 'compose', service, proxy });
        const [file = '', ...args] = [...command, '-f', join(dir, 'compose.yaml'), 'config'];
        const read = spawnSync(file, args, {
          cwd: dir,
          env: { ...process.env, ...pluginEnvironment(), POSTGRES_PASSWORD: 'given by idkit' },
        });
        assert.equal(read.status, 0, read.stderr.toString());
        assert.equal(read.stderr.toString(), '');
        checkServices(parse(read.stdout.toString()).services, service, proxy);
      });

function checkServices(services: Record<string, Service>, service: string, proxy: string): void {
  assert.deepEqual(Object.keys(services).sort(), [proxy, 'database', 'hello', service].sort());
  assert.equal(services['database']!.ports, undefined, 'the database publishes no port');
  assert.equal(services['database']!.environment?.['POSTGRES_PASSWORD'], 'given by idkit');
  for (const [name, one] of Object.entries(services))
    assert.deepEqual(one.security_opt, ['no-new-privileges:true'], name);
  for (const name of ['hello', proxy, ...(service === 'idkit' ? ['idkit'] : [])])
    assert.equal(services[name]!.read_only, true, name);
  for (const name of ['hello', service]) assert.deepEqual(services[name]!.cap_drop, ['ALL'], name);
}

test('if idkit.yaml names another proxy, init writes the configuration of that proxy', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'idkit-definition-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  writeFileSync(join(dir, 'idkit.yaml'), 'runtime: compose\ncompose: { proxy: nginx }\n');
  const made = await runIdkit(['init', '--runtime', 'compose', '--dir', dir], { cwd: dir });
  assert.equal(made.code, 0, made.stderr);
  assert.match(readFileSync(join(dir, 'compose.yaml'), 'utf8'), /^ {2}nginx:$/m);
  assert.ok(existsSync(join(dir, 'config/nginx.conf')));

  writeFileSync(join(dir, 'idkit.yaml'), 'runtime: compose\ncompose: { proxy: traefik }\n');
  const refused = await runIdkit(['init', '--runtime', 'compose', '--dir', dir], { cwd: dir });
  assert.equal(refused.code, 2, refused.stderr);
  assert.match(
    refused.stderr,
    /compose\.proxy is traefik, but idkit writes configurations only for caddy and nginx/,
  );
});
