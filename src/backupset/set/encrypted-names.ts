import { SET_FILES } from '../contract.ts';

/** The ending of an encrypted file. `env.gpg` is encrypted in every set. */
const ENDING = '.gpg';

/** Returns the name of a file in an encrypted set. */
export function encryptedName(name: string): string {
  return name.endsWith(ENDING) ? name : `${name}${ENDING}`;
}

/**
 * Returns the name that an encrypted file of a set has without its encryption, such as `config.tar.gz` for
 * `config.tar.gz.gpg`. Returns undefined for every other file, including `env.gpg` and the seal.
 */
export function decryptedName(name: string): string | undefined {
  if (!name.endsWith(ENDING)) return undefined;
  const plain = name.slice(0, -ENDING.length);
  const fixed: readonly string[] = [SET_FILES.dump, SET_FILES.config, SET_FILES.manifest];
  return fixed.includes(plain) || /^realm-.+\.json$/s.test(plain) ? plain : undefined;
}

/** True if the names are those of an encrypted set. */
export function isEncryptedSet(names: readonly string[]): boolean {
  return names.some((name) => decryptedName(name) !== undefined);
}

/**
 * Returns the name of a realm file in an encrypted set. It does not reveal the realm, which only the encrypted manifest
 * contains. @param position the position of the realm in the set, from 1 on
 */
export function numberedRealmFile(position: number): string {
  return `realm-${position}.json`;
}
