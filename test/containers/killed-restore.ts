import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { PASSPHRASE } from '../procedures/platform.ts';
import type { TestEngine } from './engines.ts';
import type { Place } from './place.ts';
import type { ContainerPlatform } from './platform.ts';

// Helpers for tests that kill a restore of a container platform.

const RUN_PROCEDURE = join(import.meta.dirname, '../procedures/run-procedure.ts');

export const passphrase = { IDKIT_BACKUP_PASSPHRASE: PASSPHRASE.reveal() };

/** Runs a restore in a process that kills itself after a step. */
export async function killRestore(
  { engine, platform }: Place,
  args: readonly string[],
  after: string,
): Promise<void> {
  const child = spawn(process.execPath, [RUN_PROCEDURE, 'restore', platform.dir, ...args, '--after', after], {
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...engine.env },
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  child.stdin.end(PASSPHRASE.reveal());
  const [[, signal], stderr] = await Promise.all([once(child, 'exit'), text(child.stderr)]);
  assert.equal(signal, 'SIGKILL', stderr);
}

/**
 * Returns the journal of an interrupted restore, or undefined if there is none. Omits the values that differ between
 * runs.
 */
export function readJournal(platform: ContainerPlatform): Record<string, unknown> | undefined {
  const data = join(platform.dir, 'data');
  const [name] = existsSync(data) ? readdirSync(data).filter((entry) => /^restore-.*json$/.test(entry)) : [];
  if (name === undefined) return undefined;
  const { id: _, startedAt: __, ...rest } = JSON.parse(readFileSync(join(data, name), 'utf8'));
  return rest;
}

/** Returns a line `SERVICE ID` for each running container. */
export async function running({ engine, platform }: Place): Promise<readonly string[]> {
  const label = 'com.docker.compose.service';
  const service = engine.kind === 'docker' ? `{{.Label "${label}"}}` : `{{index .Labels "${label}"}}`;
  const filter = `label=com.docker.compose.project=${platform.project}`;
  const listed = await engine.call(['ps', '--format', `${service} {{.ID}}`, '--filter', filter]);
  return listed.trim().split('\n').sort();
}

/**
 * Checks that every component is UP, that realm master has exactly these users, and that the restore left no file,
 * database or process behind.
 */
export async function checkServing(place: Place, users: readonly string[]): Promise<void> {
  const { engine, platform } = place;
  const listed = await platform.run(['admin', 'user', 'list', '--realm', 'master', '--json']);
  assert.equal(listed.code, 0, listed.stderr);
  const rows = listed.result()['users'] as { username: string }[];
  assert.deepEqual(rows.map(({ username }) => username).sort(), users);
  const status = await platform.run(['status', '--json']);
  const parts = status.result()['parts'] as { name: string; health: string }[];
  assert.deepEqual(
    parts.map(({ name, health }) => `${name} ${health}`),
    ['database UP', 'idkit UP', 'caddy UP', 'hello UP'],
    status.stdout,
  );
  const containers = await running(place);
  assert.equal(containers.length, 4);
  checkNoFiles(platform);
  const database = containers.find((line) => line.startsWith('database '))!.split(' ')[1]!;
  const query = 'SELECT datname FROM pg_database ORDER BY 1';
  const names = await engine.call(['exec', database, 'psql', '-U', 'idkit', '-Atc', query]);
  assert.deepEqual(names.trim().split('\n'), ['idkit', 'postgres', 'template0', 'template1']);
  assert.doesNotMatch(await programsOf(engine, database), /psql|pg_dump|bash/);
}

/** Checks that nothing of the platform exists except its backup: no container, network, `.env` or definition. */
export async function checkEmpty({ engine, platform }: Place): Promise<void> {
  const filter = ['--filter', `label=com.docker.compose.project=${platform.project}`];
  assert.equal((await engine.call(['ps', '-aq', ...filter])).trim(), '');
  assert.equal((await engine.call(['network', 'ls', '-q', ...filter])).trim(), '');
  checkNoFiles(platform);
  for (const name of ['.env', 'config', 'idkit.yaml', 'compose.yaml'])
    assert.ok(!existsSync(join(platform.dir, name)), name);
}

function checkNoFiles(platform: ContainerPlatform): void {
  const left = readdirSync(platform.dir, { recursive: true }).map(String);
  assert.deepEqual(
    left.filter((path) => /\.pre-|restore-/.test(path)),
    [],
  );
}

/** Removes the platform directory and every container, volume and network, as after a fire. */
export async function wipe({ engine, platform }: Place): Promise<void> {
  const filter = ['--filter', `label=com.docker.compose.project=${platform.project}`];
  const list = async (args: readonly string[]) =>
    (await engine.call([...args, ...filter])).split('\n').filter((name) => name !== '');
  const containers = await list(['ps', '-aq']);
  if (containers.length > 0) await engine.call(['rm', '-f', ...containers]);
  for (const kind of ['volume', 'network']) {
    const names = await list([kind, 'ls', '-q']);
    if (names.length > 0) await engine.call([kind, 'rm', ...names]);
  }
  rmSync(platform.dir, { recursive: true, force: true });
}

/** Returns the command lines of the processes in a container. */
export function programsOf(engine: TestEngine, id: string): Promise<string> {
  const script = 'for d in /proc/[0-9]*; do tr "\\0" " " < $d/cmdline; echo; done 2>/dev/null';
  return engine.call(['exec', id, 'sh', '-c', script]);
}

/** Returns a path for a set outside the platform directory, where `wipe` does not remove it. */
export function placeBeside(platform: ContainerPlatform, set: string): string {
  return join(platform.dir, '..', 'sets', basename(set));
}
