import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { TestContext } from 'node:test';
import { type BackupResult, backup, recoverAdmin } from '../../src/procedures/index.ts';
import { makePlatform, PASSPHRASE, procedureOptions, type TestPlatform } from './platform.ts';

/** Which of two states a platform directory is in, thing by thing: `old` is before the restore, `new` the set's. */
export interface State {
  database: 'old' | 'new' | 'absent';
  env: 'old' | 'new' | 'absent';
  config: 'old' | 'new' | 'absent';
}

export const OLD: State = { database: 'old', env: 'old', config: 'old' };
export const NEW: State = { database: 'new', env: 'new', config: 'new' };

/** A stopped platform with a set, changed since: one administrator more, another `.env`, another `config/`. */
export async function changedSinceBackup(
  t: TestContext,
  realms: readonly string[] = [],
): Promise<{ platform: TestPlatform; set: BackupResult }> {
  const platform = await makePlatform(t, realms);
  await writeFile(join(platform.dir, 'config/state'), 'new');
  await appendFile(join(platform.dir, '.env'), 'STATE=new\n');
  await (await platform.serve()).close();
  const set = await backup(await platform.load(), { ...procedureOptions(), passphrase: PASSPHRASE });
  await recoverAdmin(await platform.load(), { ...procedureOptions(), username: 'second' });
  await writeFile(join(platform.dir, 'config/state'), 'old');
  const env = await readFile(join(platform.dir, '.env'), 'utf8');
  await writeFile(join(platform.dir, '.env'), env.replace('STATE=new', 'STATE=old'));
  return { platform, set };
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
