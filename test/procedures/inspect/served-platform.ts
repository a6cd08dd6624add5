import { appendFile, cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AdminClient, connectAdmin } from '../../../src/client/index.ts';
import { initPlatform, loadSettings, type Settings } from '../../../src/config/index.ts';
import { type BackupPart, backup } from '../../../src/procedures/index.ts';
import { type RunningService, startService } from '../../../src/service/index.ts';
import { runSql } from '../../store/databases.ts';
import { startPostgres } from '../../store/postgres-server.ts';
import { EXPORTS, PASSPHRASE, procedureOptions } from '../platform.ts';

/** A running platform with the realm `acme` of a real Keycloak, on either database. */
export interface ServedPlatform {
  dir: string;
  settings: Settings;
  service: RunningService;
  admin: AdminClient;
  /** Creates a set and returns its directory. Default: all parts. */
  backup(only?: readonly BackupPart[]): Promise<string>;
}

/** What a platform registers its end with: a test, or a list. */
interface Ending {
  after(end: () => Promise<void>): void;
}

export async function servePlatform(t: Ending, kind: 'sqlite' | 'postgres'): Promise<ServedPlatform> {
  let service: RunningService | undefined;
  const parent = await mkdtemp(join(tmpdir(), 'idkit-test-inspect-'));
  t.after(async () => {
    await service?.close();
    await rm(parent, { recursive: true, force: true, maxRetries: 10 });
  });
  const dir = join(parent, 'idkit');
  initPlatform(dir, { env: {} });
  if (kind === 'postgres') {
    const server = await startPostgres(t);
    await runSql(server, `CREATE ROLE idkit LOGIN PASSWORD 'Role-Password-1'`);
    await runSql(server, 'CREATE DATABASE idkit OWNER idkit');
    await writeFile(join(dir, 'idkit.yaml'), `database: postgres://idkit@127.0.0.1:${server.port}/idkit\n`);
    await appendFile(join(dir, '.env'), 'IDKIT_DATABASE_PASSWORD=Role-Password-1\n');
  }
  await cp(join(EXPORTS, 'acme-realm.json'), join(dir, 'import', 'acme-realm.json'));
  const settings = await loadSettings({ dir, env: {}, flags: { 'listen.port': '0' } });
  service = await startService(settings);
  const { username, password } = settings.administrator;
  const admin = await connectAdmin({ baseUrl: service.address, username, password: password! });
  return {
    dir,
    settings,
    service,
    admin,
    backup: async (only) => {
      const parts = only === undefined ? {} : { only };
      return (await backup(settings, { ...procedureOptions(), passphrase: PASSPHRASE, ...parts })).dir;
    },
  };
}
