import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { type Target, TargetFileFault } from '../../../src/target/index.ts';

/** A target whose files are in memory. It does with them what its owner wants, as a hostile target does. */
export class MemoryTarget implements Target {
  readonly label = 'memory';
  readonly files: Map<string, Buffer>;

  constructor(files: Iterable<readonly [string, Buffer]> = []) {
    this.files = new Map(files);
  }

  async *list(prefix: string) {
    for (const [name, { length: size }] of [...this.files].sort(([a], [b]) => (a < b ? -1 : 1)))
      if (name.startsWith(prefix)) yield { name, size };
  }

  async read(name: string, range?: { start: number; length: number }) {
    const bytes = this.files.get(name);
    if (bytes === undefined) throw new TargetFileFault('TARGET_FILE_MISSING', this.label, name);
    const start = range?.start ?? 0;
    return Readable.from([bytes.subarray(start, start + (range?.length ?? bytes.length))]);
  }

  async size(name: string) {
    return this.files.get(name)?.length;
  }

  async put(name: string, content: AsyncIterable<Uint8Array>) {
    this.files.set(name, await buffer(Readable.from(content)));
  }

  async remove(name: string) {
    this.files.delete(name);
  }

  async removeDrafts() {}

  async close() {}
}
