import { createHash } from 'node:crypto';

const SET_NAME = /^(\d{4})(\d{2})(\d{2})_(\d{2})(\d{2})(\d{2})$/;

/** The longest file name that every common file system takes, in bytes. */
const LONGEST_FILE_NAME = 255;

/** `YYYYMMDD_HHMMSS` in UTC of a time in milliseconds (contract §4). */
export function formatSetName(ms: number): string {
  return new Date(ms)
    .toISOString()
    .replaceAll(/[-:]/g, '')
    .replace('T', '_')
    .replace(/\.\d+Z$/, '');
}

/** Milliseconds that a set's name tells; undefined where it is no such name (31 February is none either). */
export function parseSetName(name: string): number | undefined {
  const match = SET_NAME.exec(name);
  if (match === null) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1).map(Number);
  const ms = Date.UTC(year!, month! - 1, day!, hour!, minute!, second!);
  return Number.isFinite(ms) && year! >= 1970 && formatSetName(ms) === name ? ms : undefined;
}

/**
 * `realm-<realm>.json`, where every byte outside `A-Za-z0-9._-` and a leading dot is percent-encoded (contract
 * §4). A name that no file system would take is cut and told apart by its hash; the manifest maps it.
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

/** The realm that a file name tells; undefined where it is no realm file's name. */
export function parseRealmFileName(file: string): string | undefined {
  const encoded = /^realm-(.+)\.json$/s.exec(file)?.[1];
  if (encoded === undefined) return undefined;
  try {
    return decodeURIComponent(encoded);
  } catch {
    // Made by other tools from a realm whose name holds a bare percent sign.
    return encoded;
  }
}

/** True for a file name under which the realm may lie: idkit's own, or its plain name as other tools write it. */
export function isRealmFileOf(file: string, realm: string): boolean {
  return (
    file === realmFileName(realm) || file === `realm-${realm}.json` || parseRealmFileName(file) === realm
  );
}
