import { mkdtempSync, rmSync } from 'node:fs';
import { appendFile, cp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { TestContext } from 'node:test';
import { initPlatform, loadSettings } from '../../src/config/index.ts';
import { type BackupResult, backup, recoverAdmin } from '../../src/procedures/index.ts';
import { startService } from '../../src/service/index.ts';
import { EXPORTS, makePlatform, PASSPHRASE, procedureOptions, type TestPlatform } from './platform.ts';

/** The state of each item of a platform: `old` is the one before the restore, `new` the one in the set. */
export interface State {
  database: 'old' | 'new' | 'absent';
  env: 'old' | 'new' | 'absent';
  config: 'old' | 'new' | 'absent';
}

export const OLD: State = { database: 'old', env: 'old', config: 'old' };
export const NEW: State = { database: 'new', env: 'new', config: 'new' };

/** One platform for each list of realms. Tests copy it, because creating a platform takes a second. */
const templates = new Map<string, Promise<{ dir: string; set: string }>>();

/**
 * Returns a stopped platform that has changed since its backup: it has one more administrator, another `.env` and
 * another `config/`.
 */
export async function changedSinceBackup(
  t: TestContext,
  realms: readonly string[] = [],
): Promise<{ platform: TestPlatform; set: BackupResult }> {
  const key = realms.join(' ');
  if (!templates.has(key)) templates.set(key, makeTemplate(realms));
  const template = await templates.get(key)!;
  const platform = await makePlatform(t);
  await rm(platform.dir, { recursive: true });
  await cp(template.dir, platform.dir, { recursive: true, preserveTimestamps: true });
  const set = JSON.parse(template.set) as BackupResult;
  return { platform, set: { ...set, dir: join(platform.dir, 'backups', set.name) } };
}

async function makeTemplate(realms: readonly string[]): Promise<{ dir: string; set: string }> {
  const dir = join(mkdtempSync(join(tmpdir(), 'idkit-test-template-')), 'idkit');
  process.once('exit', () => rmSync(join(dir, '..'), { recursive: true, force: true }));
  initPlatform(dir, { env: {} });
  for (const realm of realms) {
    await cp(join(EXPORTS, `${realm}-realm.json`), join(dir, 'import', `${realm}-realm.json`));
  }
  const load = () => loadSettings({ dir, env: {}, flags: { 'listen.port': '0' } });
  await writeFile(join(dir, 'config/state'), 'new');
  await appendFile(join(dir, '.env'), 'STATE=new\n');
  await (await startService(await load())).close();
  const set = await backup(await load(), { ...procedureOptions(), passphrase: PASSPHRASE });
  await recoverAdmin(await load(), { ...procedureOptions(), username: 'second' });
  await writeFile(join(dir, 'config/state'), 'old');
  const env = await readFile(join(dir, '.env'), 'utf8');
  await writeFile(join(dir, '.env'), env.replace('STATE=new', 'STATE=old'));
  return { dir, set: JSON.stringify(set) };
}

export async function readState(dir: string): Promise<State> {
  return {
    database: readDatabase(join(dir, 'data/idkit.db')),
    env: match(await readText(join(dir, '.env')), /^STATE=(old|new)$/m),
    config: match(await readText(join(dir, 'config/state')), /^(old|new)$/),
  };
}

function readDatabase(file: string): State['database'] {
  try {
    const database = new DatabaseSync(file, { readOnly: true });
    try {
      const row = database.prepare("SELECT count(*) AS n FROM account WHERE username = 'second'").get();
      return row?.['n'] === 1 ? 'old' : 'new';
    } finally {
      database.close();
    }
  } catch {
    return 'absent';
  }
}

async function readText(file: string): Promise<string> {
  return readFile(file, 'utf8').catch(() => '');
}

function match(text: string, pattern: RegExp): 'old' | 'new' | 'absent' {
  const state = pattern.exec(text)?.[1];
  return state === 'old' || state === 'new' ? state : 'absent';
}
