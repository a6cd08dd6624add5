import { SET_FILES, type SetHandle, type WorkOptions } from '../contract.ts';
import { damaged } from '../faults.ts';
import { decryptFile } from '../openpgp/file-decryption.ts';
import type { SetKeys } from '../openpgp/set-keys.ts';
import { decryptedName, encryptedName, isEncryptedSet } from './encrypted-names.ts';

const SMALL_FILE_BYTES = 64 * 1024 * 1024;

/**
 * Returns a set whose files can be read under their names without encryption. A set that is not encrypted is returned
 * unchanged. `manifest.json` is then the encrypted manifest, which names the realms. The last bytes of a file are passed
 * on only if the hash inside it matches. `size` returns the size of the encrypted file.
 */
export function readableSet(set: SetHandle, keys: SetKeys): SetHandle {
  if (!isEncryptedSet(set.names)) return set;
  const names = set.names.filter((name) => name !== SET_FILES.manifest);
  const onDisk = new Map(names.map((name) => [decryptedName(name) ?? name, name]));
  const plainFiles: readonly string[] = [SET_FILES.checksums, SET_FILES.seal];
  const find = (name: string) => onDisk.get(name) ?? encryptedName(name);
  const stream = (name: string, options?: WorkOptions) => {
    const source = set.stream(find(name), options);
    return plainFiles.includes(name) ? source : decryptFile(source, keys, find(name));
  };
  return {
    ...set,
    names: [...onDisk.keys()].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
    stream,
    size: (name) => set.size(find(name)),
    async read(name, maxBytes = SMALL_FILE_BYTES) {
      const pieces: Buffer[] = [];
      let bytes = 0;
      for await (const piece of stream(name)) {
        bytes += piece.length;
        if (bytes > maxBytes) throw damaged(name, `it is longer than ${maxBytes} bytes`);
        pieces.push(piece);
      }
      return Buffer.concat(pieces);
    },
  };
}
