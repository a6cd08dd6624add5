import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { access, type FileHandle, lstat, mkdir, open, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { IdkitError, type Secret, systemErrorCode, systemRandom } from '../../core/index.ts';
import { syncDirectory, writing } from '../../files/index.ts';
import type { FileDigest, Verdict, VerifySetOptions } from '../contract.ts';
import { SET_FILES } from '../contract.ts';

import { environmentFilename } from '../openpgp/environment.ts';
import { encryptFile } from '../openpgp/file-encryption.ts';
import { makeSeal } from '../openpgp/seal.ts';
import type { SetEncryption } from '../openpgp/set-encryption.ts';
import { SetKeys } from '../openpgp/set-keys.ts';
import { verifySet } from '../verify/verify-set.ts';
import { renderChecksums } from './checksums.ts';
import type { SetFileWriter, SetWriter } from './contract.ts';
import { encryptedName } from './encrypted-names.ts';
import { openDirectory } from './handle.ts';
import { partialName } from './list-sets.ts';
import { parseSetName } from './names.ts';

/**
 * Creates a set in `ROOT/.partial-NAME-PID`, and the root if it is missing. The final name does not exist before
 * `publish`.
 *
 * @param encryption encrypts every file except the manifest, the checksums and the seal
 * @throws IDKIT_NO_SPACE, IDKIT_DIRECTORY_NOT_WRITABLE
 */
export async function createSetWriter(
  root: string,
  name: string,
  encryption?: SetEncryption,
): Promise<SetWriter> {
  if (parseSetName(name) === undefined) throw new IdkitError('IDKIT_BUG', `${name} is not the name of a set`);
  const dir = join(resolve(root), partialName(name));
  await writing(root, async () => {
    await mkdir(root, { recursive: true, mode: 0o700 });
    await access(root, constants.W_OK);
    await rm(dir, { recursive: true, force: true });
    await mkdir(dir, { mode: 0o700 });
  });
  return new PartialSet(resolve(root), name, dir, encryption);
}

class PartialSet implements SetWriter {
  readonly name: string;
  readonly dir: string;
  readonly encryption?: SetEncryption;
  readonly contentSizes = new Map<string, number>();
  readonly #root: string;
  readonly #files = new Map<string, FileDigest>();
  readonly #open = new Set<string>();
  #checksums: FileDigest | undefined;
  #state: 'writing' | 'listed' | 'published' = 'writing';

  constructor(root: string, name: string, dir: string, encryption: SetEncryption | undefined) {
    this.#root = root;
    if (encryption !== undefined) this.encryption = encryption;
    this.name = name;
    this.dir = dir;
  }

  get files(): ReadonlyMap<string, FileDigest> {
    return this.#files;
  }

  nameOnDisk(name: string): string {
    return this.encryption === undefined ? name : encryptedName(name);
  }

  async createFile(name: string): Promise<SetFileWriter> {
    if (this.encryption === undefined) return this.#createFile(name);
    const file = await this.#createFile(this.nameOnDisk(name));
    const filename = name === SET_FILES.environment ? environmentFilename(this.name) : name;
    const encrypted = encryptFile(this.encryption, filename, systemRandom);
    let bytes = 0;
    return {
      write: (chunk) => {
        bytes += chunk.length;
        return file.write(encrypted.update(chunk));
      },
      close: async () => {
        this.contentSizes.set(name, bytes);
        let digest: FileDigest;
        try {
          await file.write(encrypted.end());
        } finally {
          digest = await file.close();
        }
        return digest;
      },
    };
  }

  async #createFile(name: string): Promise<SetFileWriter> {
    if (this.#state !== 'writing')
      throw new IdkitError('IDKIT_BUG', `${name} cannot be created after the checksums`);
    if (this.#files.has(name) || this.#open.has(name) || /[/\\\0\n\r]/.test(name))
      throw new IdkitError('IDKIT_BUG', `${name} cannot be created in a set`);
    this.#open.add(name);
    return this.#begin(name, (digest) => {
      this.#open.delete(name);
      this.#files.set(name, digest);
    });
  }

  async #begin(name: string, closed: (digest: FileDigest) => void): Promise<SetFileWriter> {
    const path = join(this.dir, name);
    const handle = await writing(path, () => open(path, 'wx', 0o600));
    const hash = createHash('sha256');
    let bytes = 0;
    return {
      write: (chunk) =>
        writing(path, async () => {
          hash.update(chunk);
          bytes += chunk.length;
          await writeAll(handle, chunk);
        }),
      close: () =>
        writing(path, async () => {
          try {
            await handle.sync();
          } finally {
            await handle.close();
          }
          const digest = { bytes, sha256: hash.digest('hex') };
          closed(digest);
          return digest;
        }),
    };
  }

  async putFile(name: string, content: Uint8Array | string): Promise<FileDigest> {
    return put(await this.createFile(name), content);
  }

  async putReadableFile(name: string, content: string): Promise<FileDigest> {
    return put(await this.#createFile(name), content);
  }

  async writeChecksums(): Promise<void> {
    if (this.#open.size > 0) throw new IdkitError('IDKIT_BUG', `${[...this.#open].join(', ')} is still open`);
    const entries = [...this.#files].map(([name, digest]) => ({ name, sha256: digest.sha256 }));
    const file = await this.#begin(SET_FILES.checksums, (digest) => {
      this.#checksums = digest;
    });
    await file.write(Buffer.from(renderChecksums(entries), 'utf8'));
    await file.close();
    await writing(this.dir, () => syncDirectory(this.dir));
    this.#state = 'listed';
  }

  async writeSeal(passphrase: Secret): Promise<void> {
    if (this.#checksums === undefined)
      throw new IdkitError('IDKIT_BUG', 'the seal cannot be written before the checksums');
    const file = await this.#begin(SET_FILES.seal, () => {});
    await file.write(await makeSeal(this.name, this.#checksums.sha256, passphrase));
    await file.close();
    await writing(this.dir, () => syncDirectory(this.dir));
  }

  async readBack(options: VerifySetOptions = {}): Promise<Verdict> {
    const keys = this.encryption === undefined ? undefined : new SetKeys({ encryption: this.encryption });
    return verifySet(await openDirectory(this.dir, this.name), {
      ...options,
      ...(keys === undefined ? {} : { keys }),
    });
  }

  async publish(): Promise<string> {
    if (this.#state !== 'listed')
      throw new IdkitError('IDKIT_FAILED', `${this.name} cannot be published without its checksums`);
    const final = join(this.#root, this.name);
    if (await exists(final)) throw new IdkitError('IDKIT_FAILED', `${final} exists already`);
    await writing(final, async () => {
      syncDirectory(this.dir);
      await rename(this.dir, final);
      this.#state = 'published';
      syncDirectory(this.#root);
    });
    return final;
  }

  async abandon(): Promise<void> {
    if (this.#state === 'published') return;
    await rm(this.dir, { recursive: true, force: true });
  }
}

async function put(file: SetFileWriter, content: Uint8Array | string): Promise<FileDigest> {
  await file.write(typeof content === 'string' ? Buffer.from(content, 'utf8') : content);
  return file.close();
}

async function writeAll(handle: FileHandle, chunk: Uint8Array): Promise<void> {
  for (let done = 0; done < chunk.length; ) done += (await handle.write(chunk, done)).bytesWritten;
}

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return false;
    throw error;
  }
}
