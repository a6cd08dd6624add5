import type { SetHandle } from '../../../src/backupset/index.ts';
import { IdkitError } from '../../../src/core/index.ts';

/** Returns a handle of a set whose files are in memory. */
export function setOf(files: Readonly<Record<string, Uint8Array>>, name = '20261125_020000'): SetHandle {
  const fileOf = (file: string, maxBytes = Number.POSITIVE_INFINITY): Buffer => {
    const bytes = files[file];
    if (bytes === undefined) throw new IdkitError('IDKIT_DAMAGED', `${file} is missing`);
    if (bytes.length > maxBytes) throw new IdkitError('IDKIT_DAMAGED', `${file} is too long`);
    return Buffer.from(bytes);
  };
  return {
    name,
    dir: `/nowhere/${name}`,
    names: Object.keys(files).sort(),
    read: async (file, maxBytes) => fileOf(file, maxBytes),
    size: async (file) => fileOf(file).length,
    async *stream(file) {
      yield fileOf(file);
    },
  };
}
