import { join } from 'node:path';
import { execa } from 'execa';
import { SET_FILES } from '../../backupset/index.ts';
import { findEntry } from '../../files/index.ts';
import type { MirrorOptions, MirrorReport } from './mirror.ts';
import { VERSION_FOLDERS } from './to-directory.ts';

/** Timeout in seconds after which rsync gives up without a transfer. */
const STALL_SECONDS = 120;

/**
 * Copies sets and versions with rsync: first everything except the checksums, then the checksums. rsync writes each file
 * under a temporary name and renames it. So an existing file is complete and is never written again.
 */
export async function mirrorWithRsync(
  options: MirrorOptions,
  sets: readonly string[],
): Promise<MirrorReport> {
  const { root, target, signal } = options;
  const sources = sets.map((name) => join(root, name));
  for (const folder of VERSION_FOLDERS) {
    if (findEntry(join(root, folder)) !== undefined) sources.push(join(root, folder));
  }
  if (sources.length === 0) return { copied: [], faults: [] };
  const passes = [
    [`--exclude=${SET_FILES.checksums}`, '--exclude=*.sha256', '--exclude=.*'],
    ['--include=*/', `--include=${SET_FILES.checksums}`, '--include=*.sha256', '--exclude=*'],
  ];
  for (const filters of passes) {
    const fault = await runRsync([...filters, '--', ...sources, `${target.replace(/\/*$/, '')}/`], signal);
    if (fault !== undefined) return { copied: [], faults: [fault] };
  }
  return { copied: [], faults: [] };
}

async function runRsync(args: readonly string[], signal: AbortSignal): Promise<string | undefined> {
  // In a cron job no person can type a password, so ssh must not prompt for one.
  const shell =
    process.env['RSYNC_RSH'] === undefined ? ['--rsh=ssh -o BatchMode=yes -o ConnectTimeout=20'] : [];
  const fixed = ['--archive', '--ignore-existing', `--timeout=${STALL_SECONDS}`, ...shell];
  const result = await execa('rsync', [...fixed, ...args], {
    // ssh may send variables to the other host, so it must not see idkit's secrets.
    env: Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('IDKIT_'))),
    extendEnv: false,
    cancelSignal: signal,
    reject: false,
    stdin: 'ignore',
  });
  if (result.isCanceled) throw signal.reason;
  if (!result.failed) return undefined;
  if (result.code === 'ENOENT') return 'the program rsync is not installed';
  const output = result.stderr.trim().split('\n').slice(0, 2).join('; ');
  return `rsync ended with ${result.exitCode ?? result.signal}: ${output === '' ? 'it printed no error' : output}`;
}
