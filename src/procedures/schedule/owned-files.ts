import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { IdkitError } from '../../core/index.ts';
import { findEntry, isMissing, replaceFile, syncDirectory, writeFault } from '../../files/index.ts';
import type { FileChange } from './options.ts';

/** A file of the schedule, with the name that it has in the directory of the scheduler. */
export interface ScheduledFile {
  name: string;
  text: string;
}

/** The line that marks a file as written by idkit. It contains a hash of all lines after it. */
const MARK = /^# Written by idkit schedule for (.+) \(sha256 ([0-9a-f]{64})\)\n/m;

/** Adds the mark to the text of a file, as its first line. */
export function markFile(dir: string, text: string): string {
  return `# Written by idkit schedule for ${dir} (sha256 ${hashOf(text)})\n${text}`;
}

/** What is known about an existing file. */
type Owner = { dir: string; changed: boolean } | undefined;

function readOwner(text: string): Owner {
  const mark = MARK.exec(text);
  if (mark === null) return undefined;
  const [line, dir = '', hash] = mark;
  // Lines above the mark were added by an operator.
  return { dir, changed: mark.index > 0 || hashOf(text.slice(line.length)) !== hash };
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** The directory of a scheduler, the files that it should have, and which of its other files belong to the schedule. */
export interface FilePlan {
  /** The directory of the scheduler, such as /etc/systemd/system. */
  into: string;
  /** The platform directory. */
  dir: string;
  files: readonly ScheduledFile[];
  /** Whether a file with this name can be a file of the schedule. */
  matches(name: string): boolean;
}

/**
 * Plans the changes that install exactly `files`. Files of an earlier schedule of the same platform directory that are
 * not in `files` are removed.
 *
 * @throws IDKIT_FAILED if a file was not written by idkit, was changed since, or belongs to another platform directory
 */
export function planFiles({ into, dir, files, matches }: FilePlan): readonly FileChange[] {
  const wanted = new Map(files.map(({ name, text }) => [name, text]));
  const names = new Set([...wanted.keys(), ...listNames(into).filter(matches)]);
  const faults: string[] = [];
  const changes: FileChange[] = [];
  for (const name of [...names].sort()) {
    const file = join(into, name);
    const text = readText(file);
    const next = wanted.get(name);
    const owner = text === undefined ? undefined : readOwner(text);
    if (next === undefined && owner?.dir !== dir) continue;
    if (text !== undefined && owner === undefined) faults.push(`${file} was not written by idkit`);
    else if (owner?.changed) faults.push(`${file} was changed after idkit wrote it`);
    else if (owner !== undefined && owner.dir !== dir)
      faults.push(`${file} belongs to the platform directory ${owner.dir}`);
    else changes.push({ file, change: changeOf(text, next) });
  }
  if (faults.length === 0) return changes;
  throw new IdkitError('IDKIT_FAILED', `${faults.join('; ')}; nothing was changed`, {
    hints: [
      'move the file and run the command again; put changes to a unit into a drop-in (systemctl edit UNIT)',
      'for a second platform on this machine, choose other names with --name',
    ],
  });
}

function changeOf(text: string | undefined, next: string | undefined): FileChange['change'] {
  if (next === undefined) return 'remove';
  if (text === undefined) return 'create';
  return text === next ? 'keep' : 'update';
}

/** Applies the changes of `planFiles`. @throws IDKIT_DIRECTORY_NOT_WRITABLE, IDKIT_NO_SPACE */
export function applyChanges({ into, files }: FilePlan, changes: readonly FileChange[]): void {
  const texts = new Map(files.map(({ name, text }) => [join(into, name), text]));
  for (const { file, change } of changes) {
    if (change === 'keep') continue;
    if (change === 'remove') removeFile(file);
    // Every user may read units and crontabs. They contain no secrets.
    else replaceFile(file, texts.get(file) ?? '', 0o644);
  }
  syncDirectory(into);
}

function removeFile(file: string): void {
  try {
    rmSync(file);
  } catch (error) {
    throw writeFault(file, error);
  }
}

function listNames(into: string): readonly string[] {
  try {
    return readdirSync(into);
  } catch (error) {
    if (!isMissing(error)) throw error;
    throw new IdkitError('IDKIT_FAILED', `the directory ${into} does not exist`, {
      hints: ['install the scheduler, or name its directory with --into'],
    });
  }
}

/** Returns the text of a file, or undefined if there is no file. A link or a device counts as a foreign file. */
function readText(file: string): string | undefined {
  const entry = findEntry(file);
  if (entry === undefined) return undefined;
  return entry.isFile() ? readFileSync(file, 'utf8') : '';
}
