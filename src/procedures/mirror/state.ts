import { createHash } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { systemErrorCode } from '../../core/index.ts';
import { replaceFile, writing } from '../../files/index.ts';

const schema = z.object({
  target: z.string(),
  /** ISO 8601, UTC. */
  readAt: z.string().exactOptional(),
  /** The hash of the checksums of each set that was copied to the target, by name. */
  sets: z.record(z.string(), z.string()),
});

/** What idkit remembers about a target, so that a set that was replaced or deleted there is noticed. */
export type MirrorState = z.infer<typeof schema>;

/** Returns the state of a target. It is empty before the first run, and if it is unreadable. */
export async function readState(root: string, label: string): Promise<MirrorState> {
  try {
    const parsed = schema.safeParse(JSON.parse(await readFile(stateFile(root, label), 'utf8')));
    if (parsed.success && parsed.data.target === label) return parsed.data;
  } catch (error) {
    if (systemErrorCode(error) !== 'ENOENT' && !(error instanceof SyntaxError)) throw error;
  }
  return { target: label, sets: {} };
}

/** @throws IDKIT_DIRECTORY_NOT_WRITABLE, IDKIT_NO_SPACE */
export async function writeState(root: string, state: MirrorState): Promise<void> {
  const file = stateFile(root, state.target);
  await writing(file, () => mkdir(join(root, '.state'), { recursive: true, mode: 0o700 }));
  replaceFile(file, `${JSON.stringify(state, null, 2)}\n`);
}

function stateFile(root: string, label: string): string {
  const id = createHash('sha256').update(label).digest('hex').slice(0, 16);
  return join(root, '.state', `mirror-${id}.json`);
}
