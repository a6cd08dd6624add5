import { createHash } from 'node:crypto';

const SET_NAME = /^(\d{4})(\d{2})(\d{2})_(\d{2})(\d{2})(\d{2})$/;

/** Maximum length in bytes of a file name that every common file system accepts. */
const LONGEST_FILE_NAME = 255;

/** Renders a time as `YYYYMMDD_HHMMSS` in UTC. @param ms Unix time in milliseconds */
export function formatSetName(ms: number): string {
  return new Date(ms)
    .toISOString()
    .replaceAll(/[-:]/g, '')
    .replace('T', '_')
    .replace(/\.\d+Z$/, '');
}

/**
 * Returns the time in a set's name as Unix time in milliseconds. Returns undefined for any other name, including one
 * with an impossible date.
 */
export function parseSetName(name: string): number | undefined {
  const match = SET_NAME.exec(name);
  if (match === null) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1).map(Number);
  const ms = Date.UTC(year, month - 1, day, hour, minute, second);
  return Number.isFinite(ms) && year >= 1970 && formatSetName(ms) === name ? ms : undefined;
}

/**
 * Returns `realm-<realm>.json`, with a leading dot and every byte outside `A-Za-z0-9._-` percent-encoded. A name that
 * is too long for a file system is truncated and gets a hash. The manifest maps the file to its realm.
 */
export function realmFileName(realm: string): string {
  const encoded = [...Buffer.from(realm, 'utf8')]
    .map((byte, index) => {
      const character = String.fromCharCode(byte);
      const plain = /[A-Za-z0-9._-]/.test(character) && !(index === 0 && character === '.');
      return plain ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
    })
    .join('');
  const file = `realm-${encoded}.json`;
  if (file.length <= LONGEST_FILE_NAME) return file;
  const hash = createHash('sha256').update(realm).digest('hex').slice(0, 32);
  return `realm-${encoded.slice(0, 200).replace(/%.?$/, '')}~${hash}.json`;
}

/** Returns the realm of a realm file's name, or undefined for any other name. */
export function parseRealmFileName(file: string): string | undefined {
  const encoded = /^realm-(.+)\.json$/s.exec(file)?.[1];
  if (encoded === undefined) return undefined;
  try {
    return decodeURIComponent(encoded);
  } catch {
    // Other tools do not encode a percent sign in the name of a realm.
    return encoded;
  }
}

/** True if the file name belongs to the realm: the one that idkit writes, or the plain name that other tools write. */
export function isRealmFileOf(file: string, realm: string): boolean {
  return (
    file === realmFileName(realm) || file === `realm-${realm}.json` || parseRealmFileName(file) === realm
  );
}
