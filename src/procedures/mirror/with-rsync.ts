import { join } from 'node:path';
import { execa } from 'execa';
import { judgeSets, listSets, SET_FILES } from '../../backupset/index.ts';
import { findEntry } from '../../files/index.ts';
import { parseLocation } from '../../target/index.ts';
import type { MirrorOptions } from './options.ts';
import { VERSION_FOLDERS } from './remote-root.ts';

/** Timeout in seconds after which rsync gives up without a transfer. */
const STALL_SECONDS = 120;

/** Reports whether rsync copies to this place: the operator chose its remote shell (rsync(1), RSYNC_RSH). */
export function prefersRsync({ target, env = process.env }: MirrorOptions): boolean {
  return env['RSYNC_RSH'] !== undefined && isRsyncPlace(target);
}

/** Reports whether rsync can copy to this place: `[user@]host:path`. */
export function isRsyncPlace(target: string): boolean {
  return parseLocation(target).kind === 'ssh' && !target.startsWith('ssh://');
}

/**
 * Copies sets and versions with rsync: first everything except the checksums and the seals, then those. rsync writes each
 * file under a temporary name and renames it. So an existing file is complete and is never written again. Nothing is read
 * back and nothing is deleted, because rsync alone can do neither safely.
 *
 * @returns one sentence for each item that was not copied
 */
export async function mirrorWithRsync(options: MirrorOptions): Promise<readonly string[]> {
  const { root, target, signal, now } = options;
  const judged = await judgeSets(root, (await listSets(root, now)).sets);
  const bad = judged.filter(({ state }) => state === 'bad');
  const faults = bad.map(({ name }) => `${name} is damaged here and was not mirrored`);
  const sources = judged.filter(({ state }) => state !== 'bad').map(({ name }) => join(root, name));
  for (const folder of VERSION_FOLDERS)
    if (findEntry(join(root, folder)) !== undefined) sources.push(join(root, folder));
  if (sources.length === 0 || options.dryRun === true) return faults;
  const last = [SET_FILES.checksums, SET_FILES.seal, '*.sha256'];
  const passes = [
    [...last.map((name) => `--exclude=${name}`), '--exclude=.*'],
    ['--include=*/', ...last.map((name) => `--include=${name}`), '--exclude=*'],
  ];
  for (const filters of passes) {
    const fault = await runRsync([...filters, '--', ...sources, `${target.replace(/\/*$/, '')}/`], options);
    signal.throwIfAborted();
    if (fault !== undefined) return [...faults, fault];
  }
  return faults;
}

async function runRsync(
  args: readonly string[],
  { signal, env = process.env }: MirrorOptions,
): Promise<string | undefined> {
  // In a cron job no person can type a password, so ssh must not prompt for one.
  const shell = env['RSYNC_RSH'] === undefined ? ['--rsh=ssh -o BatchMode=yes -o ConnectTimeout=20'] : [];
  const fixed = ['--archive', '--ignore-existing', `--timeout=${STALL_SECONDS}`, ...shell];
  const result = await execa('rsync', [...fixed, ...args], {
    // ssh may send variables to the other host, so it must not see idkit's secrets.
    env: Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('IDKIT_'))),
    extendEnv: false,
    cancelSignal: signal,
    reject: false,
    stdin: 'ignore',
  });
  if (result.isCanceled) throw signal.reason;
  if (!result.failed) return undefined;
  if (result.code === 'ENOENT') return 'the host offers no sftp, and the program rsync is not installed';
  const output = result.stderr.trim().split('\n').slice(0, 2).join('; ');
  return `rsync ended with ${result.exitCode ?? result.signal}: ${output === '' ? 'it printed no error' : output}`;
}
