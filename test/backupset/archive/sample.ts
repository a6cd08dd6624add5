import { renderTarHeader, TAR_END } from '../../../src/backupset/archive/tar-header.ts';
import { gzipped } from '../sample-set.ts';

/** One entry of a tar archive as a test wants it, allowed or not. */
export interface Entry {
  path: string;
  type?: string;
  mode?: number;
  content?: string | Buffer;
  target?: string;
  /** In the header, where the content's own length is not wanted. */
  size?: number;
}

export function tar(entries: readonly Entry[], end: Buffer = TAR_END): Buffer {
  const blocks = entries.flatMap((entry) => {
    const content = Buffer.from((entry.content ?? '') as Buffer);
    const header = renderTarHeader({
      path: entry.path,
      type: entry.type ?? '0',
      mode: entry.mode ?? 0o644,
      size: entry.size ?? content.length,
      mtime: 1_700_000_000,
      target: entry.target ?? '',
    });
    return [header, content, Buffer.alloc((512 - (content.length % 512)) % 512)];
  });
  return Buffer.concat([...blocks, end]);
}

export const tarGz = (entries: readonly Entry[], end?: Buffer) => gzipped(tar(entries, end));
