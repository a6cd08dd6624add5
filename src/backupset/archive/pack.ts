import { padding, renderTarHeader, TAR_END } from './tar-header.ts';

/** A file of a small archive. */
export interface PackedFile {
  path: string;
  content: string | Uint8Array;
}

/** Packs small files into a tar archive in memory. Only the owner can read them. @param mtime Unix time in seconds */
export function packTar(files: readonly PackedFile[], mtime: number): Buffer {
  const blocks = files.flatMap(({ path, content }) => {
    const bytes = Buffer.from(content);
    const header = renderTarHeader({ path, type: '0', mode: 0o600, size: bytes.length, mtime, target: '' });
    return [header, bytes, Buffer.alloc(padding(bytes.length))];
  });
  return Buffer.concat([...blocks, TAR_END]);
}
