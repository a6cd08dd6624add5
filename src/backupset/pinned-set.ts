import { createHash } from 'node:crypto';
import type { ChecksumEntry, SetHandle, WorkOptions } from './contract.ts';
import { SET_FILES } from './contract.ts';
import { damaged } from './faults.ts';

/**
 * The same set, held to the checksums that were verified: what is read later is what was judged, even if the directory
 * changes meanwhile. The last bytes of a file are handed on only once all of it has the listed hash, so what is made
 * of a file counts only once it was read to its end. A file that is not listed is not read.
 */
export function pinSet(set: SetHandle, entries: readonly ChecksumEntry[]): SetHandle {
  const hashes = new Map(entries.map(({ name, sha256 }) => [name, sha256]));
  const stream = (name: string, options: WorkOptions = {}) =>
    readPinned(set.stream(name, options), name, hashes.get(name));
  return {
    ...set,
    stream,
    async read(name, maxBytes) {
      const bytes = await set.read(name, maxBytes);
      checkHash(name, createHash('sha256').update(bytes).digest('hex'), hashes.get(name));
      return bytes;
    },
  };
}

async function* readPinned(
  source: AsyncIterable<Buffer>,
  name: string,
  listed: string | undefined,
): AsyncGenerator<Buffer> {
  const hash = createHash('sha256');
  let held: Buffer | undefined;
  for await (const chunk of source) {
    hash.update(chunk);
    if (held !== undefined) yield held;
    held = chunk;
  }
  checkHash(name, hash.digest('hex'), listed);
  if (held !== undefined) yield held;
}

function checkHash(name: string, found: string, listed: string | undefined): void {
  if (found === listed) return;
  throw damaged(
    name,
    listed === undefined
      ? `${SET_FILES.checksums} does not list it`
      : 'it is no longer what was verified: something changed it meanwhile',
  );
}
