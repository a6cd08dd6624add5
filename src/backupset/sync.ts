import { randomBytes } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { writing } from './faults.ts';

/** Makes what was created, renamed or removed in a directory last through a power cut. */
export async function syncDirectory(dir: string): Promise<void> {
  const handle = await open(dir, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * Puts a whole file, mode 0600, in place by one rename, synced to disk: a reader sees the old bytes or the new.
 *
 * @throws IDKIT_NO_SPACE, IDKIT_DIRECTORY_NOT_WRITABLE
 */
export async function replaceFile(file: string, content: Uint8Array | string): Promise<void> {
  const draft = join(dirname(file), `.${basename(file)}.${randomBytes(6).toString('hex')}.partial`);
  await writing(file, async () => {
    try {
      const handle = await open(draft, 'wx', 0o600);
      try {
        await handle.writeFile(content);
        await handle.sync();
      } finally {
        await handle.close();
      }
      await rename(draft, file);
    } catch (error) {
      await rm(draft, { force: true });
      throw error;
    }
    await syncDirectory(dirname(file));
  });
}
