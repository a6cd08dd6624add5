import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type Clock, Secret } from '../../src/core/index.ts';
import type { Store } from '../../src/store/index.ts';
import { openStore } from '../../src/store/open.ts';

/** Returns a new master key. */
export function newMasterKey(): Secret {
  return new Secret(randomBytes(32).toString('base64'));
}

/** A store that the test opened in the directory may close after this call: until then, files may appear again. */
function remove(directory: string): Promise<void> {
  return rm(directory, { recursive: true, force: true, maxRetries: 10 });
}

/** Creates a directory that is removed after the test. */
export async function newDirectory(t: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'idkit-store-'));
  t.after(() => remove(directory));
  return directory;
}

/** Creates a store in a new file. It closes when the test ends. */
export async function newStore(
  t: TestContext,
  options: { clock?: Clock } = {},
): Promise<{ store: Store; file: string; masterKey: Secret; directory: string }> {
  const directory = await mkdtemp(join(tmpdir(), 'idkit-store-'));
  const file = join(directory, 'idkit.db');
  const masterKey = newMasterKey();
  const store = await openStore({ file, masterKey, ...options });
  t.after(async () => {
    await store.close();
    await remove(directory);
  });
  return { store, file, masterKey, directory };
}
