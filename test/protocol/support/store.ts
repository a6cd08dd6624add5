import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { type Clock, Secret } from '../../../src/core/index.ts';
import type { Store } from '../../../src/store/index.ts';
import { openStore } from '../../../src/store/open.ts';

/** Opens a real store in a directory. */
export function openTestStore(directory: string, clock: Clock): Promise<Store> {
  const masterKey = new Secret(randomBytes(32).toString('base64'));
  return openStore({ file: join(directory, 'idkit.db'), masterKey, clock });
}
