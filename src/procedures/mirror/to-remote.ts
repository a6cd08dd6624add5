import { join } from 'node:path';
import { execa } from 'execa';
import { SET_FILES } from '../../backupset/index.ts';
import { findEntry } from '../durable.ts';
import type { MirrorOptions, MirrorReport } from './mirror.ts';
import { VERSION_FOLDERS } from './to-directory.ts';

/** Seconds without any transfer after which rsync gives up. */
const STALL_SECONDS = 120;

/**
 * Copies sets and versions by rsync: first everything but the checksums, then the checksums. rsync writes each file
 * beside its name and renames it, so what exists is whole and need never be written again.
 */
export async function mirrorByRsync(options: MirrorOptions, sets: readonly string[]): Promise<MirrorReport> {
  const { root, target, signal } = options;
  const sources = sets.map((name) => join(root, name));
  for (const folder of VERSION_FOLDERS) {
    if ((await findEntry(join(root, folder))) !== undefined) sources.push(join(root, folder));
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
  // A cron job must not wait for a password that nobody will type.
  const shell =
    process.env['RSYNC_RSH'] === undefined ? ['--rsh=ssh -o BatchMode=yes -o ConnectTimeout=20'] : [];
  const fixed = ['--archive', '--ignore-existing', `--timeout=${STALL_SECONDS}`, ...shell];
  const own = ([name]: readonly [string, unknown]) => name.startsWith('IDKIT_');
  const result = await execa('rsync', [...fixed, ...args], {
    // Neither rsync nor ssh, which may send variables on, has use for idkit's secrets.
    env: Object.fromEntries(Object.entries(process.env).filter((variable) => !own(variable))),
    extendEnv: false,
    cancelSignal: signal,
    reject: false,
    stdin: 'ignore',
  });
  if (result.isCanceled) throw signal.reason;
  if (!result.failed) return undefined;
  if (result.code === 'ENOENT') return 'the program rsync is missing';
  const said = result.stderr.trim().split('\n').slice(0, 2).join('; ');
  return `rsync ended with ${result.exitCode ?? result.signal}: ${said === '' ? 'it said nothing' : said}`;
}
