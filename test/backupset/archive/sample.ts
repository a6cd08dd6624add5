import { renderTarHeader, TAR_END } from '../../../src/backupset/archive/tar-header.ts';
import { gzipped } from '../sample-set.ts';

/** An entry of a tar archive, valid or not. */
export interface Entry {
  path: string;
  type?: string;
  mode?: number;
  content?: string | Buffer;
  target?: string;
  /** The size in the header. Default: the length of the content. */
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
