import { execFile } from 'node:child_process';
import { open, readdir, readFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { type PackedFile, packTar } from '../../backupset/index.ts';
import { platformPaths } from '../../config/index.ts';
import { errorMessage, IdkitError } from '../../core/index.ts';
import { findEntry, replaceFile } from '../../files/index.ts';
import { listBackups } from '../backups/list.ts';
import type { Reporter } from '../run.ts';
import { status } from '../status/status.ts';
import type { DoctorResult } from './options.ts';
import type { Patient } from './patient.ts';
import { listSecrets, openScrubber } from './scrub.ts';

/** Maximum number of bytes of each file: its end. */
const TAIL_BYTES = 2 * 1024 * 1024;
/** Maximum number of lines of the list of files. */
const MOST_LINES = 2000;
/** Lines of the journal of systemd. */
const JOURNAL_LINES = '5000';

const README = `This bundle was written by idkit doctor. It contains no secrets: every secret of the platform, and all text that
looks like one, is replaced by [secret]. It contains names of realms, clients, users and hosts, and addresses, so read it
before you send it.

doctor.json    the checks, the machine and the effective settings with their sources
status.json    the report of idkit status
backups.json   the backup sets with their verdicts
files.txt      the files of the platform directory with their modes and sizes
platform/      idkit.yaml and compose.yaml
state/         the last results of backup, verify and drill, and journals of restores
metrics.txt    the metrics of the service
logs/          the end of the logs
`;

/**
 * Writes a gzip-compressed tar archive for a support engineer, with mode 0600. Every text in it is scrubbed. A part that
 * cannot be read is replaced by the reason. Returns the absolute path.
 *
 * @throws IDKIT_DIRECTORY_NOT_WRITABLE, IDKIT_NO_SPACE
 */
export async function writeBundle(patient: Patient, result: DoctorResult, file: string): Promise<string> {
  const { settings, options } = patient;
  const scrub = openScrubber(listSecrets(settings, options.env));
  const files = await collect(patient, result);
  const scrubbed = files.map(({ path, content }) => ({
    path: `idkit-doctor/${path}`,
    content: scrub(content.toString()),
  }));
  const target = resolve(file);
  replaceFile(target, gzipSync(packTar(scrubbed, Math.floor(options.clock.now() / 1000))));
  return target;
}

async function collect(patient: Patient, result: DoctorResult): Promise<readonly PackedFile[]> {
  const { settings, options } = patient;
  const paths = platformPaths(settings.dir);
  const json = async (path: string, read: () => Promise<unknown>): Promise<PackedFile> => ({
    path,
    content: `${JSON.stringify(await orReason(read), null, 2)}\n`,
  });
  const state = join(settings.backup.root, '.state');
  const stored = [
    ...(patient.rootResponds ? await filesIn(state, /^last-[\w-]+\.json$/) : []),
    ...(await filesIn(paths.data, /^restore-[\w.-]+\.json$/)),
  ];
  return [
    { path: 'README.txt', content: README },
    await json('doctor.json', async () => result),
    await json('status.json', () =>
      status(settings, {
        ...options,
        reporter: { ...SILENT, finding: (finding) => options.reporter.finding(finding) },
      }),
    ),
    await json('backups.json', async () =>
      patient.rootResponds ? listBackups(settings, options) : { unknown: 'the file system does not respond' },
    ),
    { path: 'files.txt', content: await listFiles(settings.dir) },
    ...(await tails('platform', [paths.yaml, paths.compose])),
    ...(await tails('state', stored)),
    { path: 'metrics.txt', content: await readMetrics(patient) },
    ...(await tails('logs', options.logs ?? [])),
    ...(await readJournal()),
  ];
}

/** Shows no steps and no notes, because the bundle contains the whole report. */
const SILENT: Omit<Reporter, 'finding'> = {
  stepStarted: () => undefined,
  stepProgress: () => undefined,
  stepFinished: () => undefined,
  stepFailed: () => undefined,
  note: () => undefined,
};

async function orReason<T>(read: () => Promise<T>): Promise<T | { unknown: string }> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof IdkitError)) throw error;
    return { unknown: `${error.code}: ${error.message}` };
  }
}

async function filesIn(dir: string, name: RegExp): Promise<readonly string[]> {
  try {
    return (await readdir(dir)).filter((file) => name.test(file)).map((file) => join(dir, file));
  } catch {
    // The directory does not exist yet, or files.txt shows that it is unreadable.
    return [];
  }
}

/** Reads the ends of the files that exist. An unreadable file becomes the reason. */
async function tails(folder: string, files: readonly string[]): Promise<readonly PackedFile[]> {
  const packed: PackedFile[] = [];
  for (const [index, file] of files.entries()) {
    if (folder !== 'logs' && findEntry(file) === undefined) continue;
    // Two logs can have the same name in different directories.
    const name = folder === 'logs' ? `${index + 1}-${basename(file)}` : basename(file);
    packed.push({ path: `${folder}/${name}`, content: await readTail(file) });
  }
  return packed;
}

async function readTail(file: string): Promise<string> {
  try {
    const handle = await open(file, 'r');
    try {
      const { size } = await handle.stat();
      if (size <= TAIL_BYTES) return await readFile(file, 'utf8');
      const { buffer } = await handle.read(Buffer.alloc(TAIL_BYTES), 0, TAIL_BYTES, size - TAIL_BYTES);
      // The first line is cut, so a secret in it might not be recognized.
      return buffer.toString('utf8').replace(/^[^\n]*\n/, '');
    } finally {
      await handle.close();
    }
  } catch (error) {
    return `cannot be read: ${errorMessage(error)}\n`;
  }
}

/** Lists the files below a directory with mode, owner and size. Does not follow links. */
async function listFiles(dir: string): Promise<string> {
  const lines: string[] = [];
  const walk = async (path: string): Promise<void> => {
    const names = await readdir(path).catch(() => undefined);
    if (names === undefined) lines.push(`${path} cannot be read`);
    for (const name of (names ?? []).toSorted()) {
      if (lines.length >= MOST_LINES) return;
      const child = join(path, name);
      const entry = findEntry(child);
      if (entry === undefined) continue;
      const kind = entry.isDirectory() ? 'd' : entry.isSymbolicLink() ? 'l' : entry.isFile() ? '-' : '?';
      const mode = (entry.mode & 0o7777).toString(8).padStart(4, '0');
      lines.push(
        `${kind}${mode} ${entry.uid}:${entry.gid} ${entry.size} ${entry.mtime.toISOString()} ${child}`,
      );
      if (entry.isDirectory()) await walk(child);
    }
  };
  await walk(dir);
  return `${lines.join('\n')}\n`;
}

async function readMetrics(patient: Patient): Promise<string> {
  try {
    const url = await patient.platform.service.managementUrl();
    if (url === undefined) return 'the service has no management listener for this machine\n';
    return (await patient.call(`${url}/metrics`)).text;
  } catch (error) {
    return `unknown: ${errorMessage(error)}\n`;
  }
}

/** Reads the journal of the units of idkit, if systemd keeps one. */
async function readJournal(): Promise<readonly PackedFile[]> {
  try {
    const { stdout } = await promisify(execFile)(
      'journalctl',
      ['--unit=idkit*', '--no-pager', '--output=short-iso', `--lines=${JOURNAL_LINES}`],
      { timeout: 20_000, maxBuffer: 32 * 1024 * 1024 },
    );
    return stdout === '' ? [] : [{ path: 'logs/journal.txt', content: stdout }];
  } catch {
    // Containers and other systems have no journal.
    return [];
  }
}
