import { createHash } from 'node:crypto';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { makeSeal } from '../../backupset/index.ts';
import { IdkitError, type Secret } from '../../core/index.ts';
import { createFile, findEntry, hasEnded, syncDirectory, writing } from '../../files/index.ts';
import { toDocument } from './document.ts';
import type { DrillResult, StoredReport } from './options.ts';
import { renderHtmlReport } from './render-html.ts';

/** Names of the files of a report. `gpg --decrypt seal.gpg | sha256sum -c` checks the seal, as that of a set. */
const FILES = {
  html: 'report.html',
  json: 'report.json',
  checksums: 'checksums.sha256',
  seal: 'seal.gpg',
} as const;

/** Directories of reports that were not finished. */
const PARTIAL = /^\.drill-\d{8}_\d{6}-\d+$/;

/**
 * Writes the report into a new directory of `parent`, which is named after the time of the drill. The directory appears
 * complete, by one rename. Without a passphrase, it has no seal.
 *
 * @throws IDKIT_DIRECTORY_NOT_WRITABLE, IDKIT_NO_SPACE
 */
export async function storeReport(
  parent: string,
  result: DrillResult,
  passphrase: Secret | undefined,
): Promise<StoredReport> {
  return writing(parent, async () => {
    await mkdir(parent, { recursive: true, mode: 0o700 });
    await removePartials(parent);
    const stamp = result.startedAt.replaceAll(/[-:]|\.\d+Z$/g, '').replace('T', '_');
    const partial = join(parent, `.drill-${stamp}-${process.pid}`);
    await mkdir(partial, { mode: 0o700 });
    try {
      const name = await findFreeName(parent, stamp);
      const dir = join(parent, name);
      const contents = {
        [FILES.html]: renderHtmlReport(result),
        [FILES.json]: `${JSON.stringify(toDocument(result), null, 2)}\n`,
      };
      const checksums = Object.entries(contents)
        .map(([file, text]) => `${sha256(text)}  ${file}\n`)
        .join('');
      for (const [file, text] of Object.entries(contents)) createFile(join(partial, file), text);
      createFile(join(partial, FILES.checksums), checksums);
      if (passphrase !== undefined)
        createFile(join(partial, FILES.seal), await makeSeal(name, sha256(checksums), passphrase));
      syncDirectory(partial);
      await rename(partial, dir);
      syncDirectory(parent);
      return {
        dir,
        html: join(dir, FILES.html),
        json: join(dir, FILES.json),
        sealed: passphrase !== undefined,
      };
    } catch (error) {
      await rm(partial, { recursive: true, force: true });
      throw error;
    }
  });
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Two drills can begin in one second. */
async function findFreeName(parent: string, stamp: string): Promise<string> {
  for (let number = 1; number < 1000; number++) {
    // The name differs from that of a set, so that nobody takes a report for one.
    const name = number === 1 ? `drill-${stamp}` : `drill-${stamp}-${number}`;
    if (findEntry(join(parent, name)) === undefined) return name;
  }
  throw new IdkitError('IDKIT_FAILED', `${parent} has too many reports of ${stamp}`);
}

async function removePartials(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    const pid = PARTIAL.test(name) ? Number(name.split('-').at(-1)) : process.pid;
    if (pid === process.pid || !hasEnded(pid)) continue;
    await rm(join(parent, name), { recursive: true, force: true });
  }
}
