import {
  checkSeal,
  isEncryptedSet,
  type Manifest,
  openSet,
  type PrivateKeys,
  parseManifest,
  pinSet,
  readableSet,
  SET_FILES,
  type SealState,
  type SetHandle,
  SetKeys,
} from '../../backupset/index.ts';
import { IdkitError, type Secret } from '../../core/index.ts';
import type { Reporter } from '../run.ts';

/** A set whose files are read only if they match the checksums. */
export interface InspectedSet {
  set: SetHandle;
  seal: SealState;
  manifest?: Manifest;
  /** True if the set is encrypted. The files of `set` are then decrypted while they are read. */
  isEncrypted: boolean;
}

const MISMATCH = `it is damaged: its content does not match ${SET_FILES.checksums}`;

/**
 * Opens a set for reading. Every file is compared with the checksums while it is read, and with a passphrase also the
 * checksums with the seal.
 *
 * @throws IDKIT_NOT_FOUND, IDKIT_DAMAGED, IDKIT_CREDENTIALS; IDKIT_USAGE for a set without the database
 */
export async function inspectSet(
  dir: string,
  {
    passphrase,
    privateKeys,
    reporter,
  }: { passphrase?: Secret | undefined; privateKeys?: PrivateKeys; reporter: Reporter },
): Promise<InspectedSet> {
  const plain = await openSet(dir);
  const sealed = await checkSeal(plain, passphrase);
  const [first] = sealed.problems;
  if (first !== undefined)
    throw new IdkitError(first.code, `${plain.name} cannot be read: ${first.file}: ${first.message}`, {
      hints: ['idkit backups list shows the other sets', ...first.hints],
    });
  for (const note of sealed.notes) reporter.note(`${plain.name}: ${note}`);
  const keys = new SetKeys({ passphrase, privateKeys });
  const set = readableSet(pinSet(plain, sealed.list?.entries ?? [], MISMATCH), keys);
  if (!set.names.includes(SET_FILES.dump))
    throw new IdkitError('IDKIT_USAGE', `${plain.name} does not contain the database`, {
      hints: ['idkit backups list shows the parts of each set'],
    });
  const manifest = set.names.includes(SET_FILES.manifest)
    ? parseManifest(await set.read(SET_FILES.manifest))
    : undefined;
  return {
    set,
    seal: sealed.seal,
    isEncrypted: isEncryptedSet(plain.names),
    ...(manifest === undefined ? {} : { manifest }),
  };
}

/** Returns a reporter's callback for the bytes of a dump that have been read. */
export function dumpProgress(reporter: Reporter, id: string): (done: number, total?: number) => void {
  return (done, total) =>
    reporter.stepProgress({ id, done, unit: 'bytes', ...(total === undefined ? {} : { total }) });
}
