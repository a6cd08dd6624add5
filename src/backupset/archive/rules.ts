import type { ArchiveEntry } from '../contract.ts';
import { SET_FILES } from '../contract.ts';
import { damaged, shown } from '../faults.ts';
import type { TarHeader } from './tar-header.ts';

/** Limits of an archive once unpacked (contract §3, verify). */
export const ARCHIVE_MAX_BYTES = 1024 ** 3;
export const ARCHIVE_MAX_ENTRIES = 100_000;

/** Files beside `config/`. */
const BESIDE = ['idkit.yaml', 'compose.yaml'];

/** As many links as Linux follows in one path. */
const LINKS_FOLLOWED = 40;

/** An entry, and for a hard link the earlier file that it is a copy of. */
export type CheckedEntry = ArchiveEntry & { copyOf?: string };

/** A fault of the archive. */
export function badArchive(why: string) {
  return damaged(SET_FILES.config, why);
}

/** Holds every entry against the rules of contract §3, verify; `finish` holds the links against each other. */
export class ArchiveRules {
  readonly #entries = new Map<string, CheckedEntry>();
  /** Directories that are only named by what lies in them. */
  readonly #implied = new Set<string>();
  #bytes = 0;

  /** @throws IDKIT_DAMAGED. Undefined for the archive's own root, which is no entry */
  check(header: TarHeader): CheckedEntry | undefined {
    const path = this.#checkPath(header.path);
    if (path === undefined) {
      if (header.type !== '5') throw badArchive('an entry has no name');
      return undefined;
    }
    const where = shown(path);
    if (this.#entries.has(path)) throw badArchive(`${where} is in it twice`);
    if (this.#entries.size >= ARCHIVE_MAX_ENTRIES)
      throw badArchive(`it holds more than ${ARCHIVE_MAX_ENTRIES} entries`);
    if ((header.mode & 0o6000) !== 0) throw badArchive(`${where} has a set-id bit`);
    const entry = this.#entryOf(path, header);
    this.#checkPlace(entry);
    this.#bytes += entry.size;
    if (this.#bytes > ARCHIVE_MAX_BYTES) throw badArchive('unpacked it is larger than 1 GiB');
    this.#entries.set(path, entry);
    return entry;
  }

  /** @throws IDKIT_DAMAGED where a link leads out of `config/`, if need be through others */
  finish(): readonly CheckedEntry[] {
    const links = new Map<string, string>();
    for (const entry of this.#entries.values())
      if (entry.type === 'link') links.set(entry.path, entry.target!);
    for (const path of links.keys())
      if (!linkStaysInside(path, links)) throw badArchive(`the link ${shown(path)} leads out of config/`);
    return [...this.#entries.values()];
  }

  #checkPath(raw: string): string | undefined {
    if (raw.startsWith('/')) throw badArchive(`${shown(raw)} is an absolute name`);
    if (raw.includes('\0')) throw badArchive(`${shown(raw)} is no file name`);
    const parts = raw.split('/').filter((part) => part !== '' && part !== '.');
    if (parts.includes('..')) throw badArchive(`${shown(raw)} leads out of the archive`);
    if (parts.length === 0) return undefined;
    if (parts.includes('.env')) throw badArchive(`${shown(raw)} is an environment file`);
    if (parts.some((part) => Buffer.byteLength(part) > 255) || Buffer.byteLength(raw) > 4095)
      throw badArchive(`${shown(raw)} is too long for a file name`);
    return parts.join('/');
  }

  #entryOf(path: string, header: TarHeader): CheckedEntry {
    const base = { path, mode: header.mode & 0o777, mtime: header.mtime };
    switch (header.type) {
      case '0':
      case '7':
        return { ...base, type: 'file', size: header.size };
      case '5':
        return { ...base, type: 'directory', size: 0 };
      case '2':
        return { ...base, type: 'link', size: 0, target: header.target };
      case '1':
        return { ...base, ...this.#copyOf(path, header.target), type: 'file' };
      case '3':
      case '4':
        throw badArchive(`${shown(path)} is a device`);
      case '6':
        throw badArchive(`${shown(path)} is a FIFO`);
      default:
        throw badArchive(`${shown(path)} is of the unknown type ${shown(header.type)}`);
    }
  }

  #copyOf(path: string, target: string) {
    const name = this.#checkPath(target);
    const original = name === undefined ? undefined : this.#entries.get(name);
    if (original?.type !== 'file') throw badArchive(`the hard link ${shown(path)} leads out of the archive`);
    return { size: original.size, copyOf: original.path };
  }

  #checkPlace(entry: CheckedEntry): void {
    const parts = entry.path.split('/');
    const beside = parts.length === 1 && BESIDE.includes(entry.path) && entry.type === 'file';
    const config = parts[0] === 'config' && (parts.length > 1 || entry.type === 'directory');
    if (!beside && !config)
      throw badArchive(`${shown(entry.path)} is neither in config/ nor idkit.yaml nor compose.yaml`);
    for (let depth = 1; depth < parts.length; depth++) {
      const parent = parts.slice(0, depth).join('/');
      const above = this.#entries.get(parent);
      if (above !== undefined && above.type !== 'directory')
        throw badArchive(`${shown(entry.path)} lies under ${shown(parent)}, which is no directory`);
      this.#implied.add(parent);
    }
    if (entry.type !== 'directory' && this.#implied.has(entry.path))
      throw badArchive(`${shown(entry.path)} is no directory, but other entries lie under it`);
  }
}

/**
 * True where a link, followed through the others, ends inside `config/`. Reading the target's text alone is not
 * enough: `up/..` stays inside, unless `up` is itself a link to a place higher up.
 *
 * @param links target by path, all below `config`
 */
export function linkStaysInside(path: string, links: ReadonlyMap<string, string>): boolean {
  let at = path.split('/').slice(0, -1);
  let rest = (links.get(path) ?? '').split('/');
  if (links.get(path) === '' || links.get(path)?.startsWith('/') === true) return false;
  let followed = 1;
  while (rest.length > 0) {
    const [part, ...later] = rest;
    rest = later;
    if (part === '' || part === '.' || part === undefined) continue;
    if (part === '..') at = at.slice(0, -1);
    else {
      at = [...at, part];
      const target = links.get(at.join('/'));
      if (target !== undefined) {
        // A loop leads nowhere, so not out either.
        if (++followed > LINKS_FOLLOWED) return true;
        if (target.startsWith('/')) return false;
        at = at.slice(0, -1);
        rest = [...target.split('/'), ...rest];
      }
    }
    if (at[0] !== 'config') return false;
  }
  return true;
}
