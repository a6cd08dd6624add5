import { rmSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { initPlatform, loadSettings } from '../../src/config/index.ts';
import type { Secret } from '../../src/core/index.ts';
import { startService } from '../../src/service/index.ts';

/** A platform that this process serves. Its public base URL leads nowhere, so no command can find the service by it. */
export interface ServedPlatform {
  /** Contains only the platform directory `idkit`. */
  cwd: string;
  dir: string;
  /** Where the service listens. */
  address: string;
  /** The credentials of its `.env`, as environment variables for commands that run elsewhere. */
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
