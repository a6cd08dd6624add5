import { rmSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { initPlatform, loadSettings } from '../../src/config/index.ts';
import type { Secret } from '../../src/core/index.ts';
import { startService } from '../../src/service/index.ts';

/**
 * A platform that the test process serves. Its public base URL does not resolve, so commands must find the service in
 * another way.
 */
export interface ServedPlatform {
  /** A directory that contains only the platform directory `idkit`. */
  cwd: string;
  dir: string;
  /** The address on which the service listens. */
  address: string;
  /** The credentials in the platform's `.env`, as environment variables for commands without the platform directory. */
  credentials: Readonly<Record<'IDKIT_ADMIN_PASSWORD' | 'IDKIT_SMOKE_CLIENT_SECRET', string>>;
  close(): Promise<void>;
}

export async function servePlatform(): Promise<ServedPlatform> {
  const cwd = await mkdtemp(join(tmpdir(), 'idkit-cli-served-'));
  const dir = join(cwd, 'idkit');
  initPlatform(dir, { env: {} });
  writeFileSync(join(dir, 'idkit.yaml'), 'baseUrl: http://login.example.test\n');
  const settings = await loadSettings({
    dir,
    env: {},
    flags: { 'listen.port': '0', 'listen.managementPort': '0' },
  });
  const service = await startService(settings);
  const reveal = (secret: Secret | undefined) => secret!.reveal();
  return {
    cwd,
    dir,
    address: service.address,
    credentials: {
      IDKIT_ADMIN_PASSWORD: reveal(settings.administrator.password),
      IDKIT_SMOKE_CLIENT_SECRET: reveal(settings.smoke.clientSecret),
    },
    async close() {
      await service.close();
      rmSync(cwd, { recursive: true, force: true });
    },
  };
}
