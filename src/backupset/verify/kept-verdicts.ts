import { createHash } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { IdkitError } from '../../core/index.ts';
import { replaceFile, writing } from '../../files/index.ts';
import type { KeptVerdict } from '../contract.ts';
import { SET_FILES } from '../contract.ts';

import { CHECKSUMS_MAX_BYTES } from '../set/checksums.ts';
import { readRegular } from '../set/regular-file.ts';
import { contentsSchema } from './kept-contents.ts';

const STATE_DIRECTORY = '.state';

/** Maximum size in bytes of a stored verdict, which lists every problem of its set. */
const VERDICT_MAX_BYTES = 16 * 1024 * 1024;

const count = z.number().int().nonnegative();

const schema = z.object({
  at: z.iso.datetime(),
  verdict: z.enum(['good', 'damaged', 'passphrase', 'unreadable']),
  checksumsSha256: z.string().regex(/^[0-9a-f]{64}$/),
  problems: z.array(z.string()),
  seal: z.enum(['holds', 'not checked', 'unsealed', 'broken']).exactOptional(),
  by: z.enum(['backup', 'verify']).exactOptional(),
  isRead: z.boolean().exactOptional(),
  sqlBytes: count.exactOptional(),
  contents: contentsSchema.exactOptional(),
  encryptedContents: z.base64().exactOptional(),
  shrunk: z.object({ losses: z.array(z.string()), accepted: z.boolean() }).exactOptional(),
});

/**
 * Finds the stored verdict of a set. Returns undefined if there is none, if it is unreadable, or if the set's checksums
 * have changed since.
 */
export async function findVerdict(root: string, name: string): Promise<KeptVerdict | undefined> {
  const kept = schema.safeParse(await readJson(stateFile(root, name)));
  if (!kept.success) return undefined;
  const now = await hashOf(join(root, name, SET_FILES.checksums));
  return kept.data.checksumsSha256 === now ? kept.data : undefined;
}

/**
 * Stores a verdict in `ROOT/.state/NAME.json`, never inside the set.
 *
 * @throws IDKIT_DIRECTORY_NOT_WRITABLE, IDKIT_NO_SPACE
 */
export async function putVerdict(root: string, name: string, verdict: KeptVerdict): Promise<void> {
  const file = stateFile(root, name);
  await writing(file, () => mkdir(join(root, STATE_DIRECTORY), { recursive: true, mode: 0o700 }));
  replaceFile(file, `${JSON.stringify(verdict, null, 2)}\n`);
}

/** Removes the stored verdict of a set, if it has one. */
export async function removeVerdict(root: string, name: string): Promise<void> {
  const file = stateFile(root, name);
  await writing(file, () => rm(file, { force: true }));
}

function stateFile(root: string, name: string): string {
  return join(root, STATE_DIRECTORY, `${name}.json`);
}

async function readJson(file: string): Promise<unknown> {
  try {
    return JSON.parse((await readRegular(dirname(file), basename(file), VERDICT_MAX_BYTES)).toString('utf8'));
  } catch (error) {
    // A verdict that cannot be read is ignored, and the set is verified again.
    if (error instanceof SyntaxError || error instanceof IdkitError) return undefined;
    throw error;
  }
}

async function hashOf(file: string): Promise<string | undefined> {
  try {
    return createHash('sha256')
      .update(await readRegular(dirname(file), basename(file), CHECKSUMS_MAX_BYTES))
      .digest('hex');
  } catch (error) {
    if (error instanceof IdkitError) return undefined;
    throw error;
  }
}
