import type { ArchiveEntry } from '../contract.ts';
import { SET_FILES } from '../contract.ts';
import { damaged, printable } from '../faults.ts';
import type { TarHeader } from './tar-header.ts';

/** Limits of the unpacked archive in bytes and entries. */
export const ARCHIVE_MAX_BYTES = 1024 ** 3;
export const ARCHIVE_MAX_ENTRIES = 100_000;

/** Names of the files that an archive may contain next to `config/`. */
const TOP_FILES = ['idkit.yaml', 'compose.yaml'];

/** Linux follows at most this many links in one path. */
const LINKS_FOLLOWED = 40;

/** An entry that passed the rules. For a hard link, `copyOf` is the path of the earlier file that it links to. */
export type CheckedEntry = ArchiveEntry & { copyOf?: string };

/** Returns the error for a damaged archive. */
export function badArchive(why: string) {
  return damaged(SET_FILES.config, why);
}

/** Checks each entry by itself with `check`, and all links together with `finish`. */
export class ArchiveRules {
  readonly #entries = new Map<string, CheckedEntry>();
  /** Directories that contain entries but are not entries of the archive themselves. */
  readonly #implied = new Set<string>();
  #bytes = 0;

  /** Returns the checked entry, or undefined for the root of the archive. @throws IDKIT_DAMAGED */
  check(header: TarHeader): CheckedEntry | undefined {
    const path = this.#checkPath(header.path);
    if (path === undefined) {
      if (header.type !== '5') throw badArchive('an entry has no name');
      return undefined;
    }
    const where = printable(path);
    if (this.#entries.has(path)) throw badArchive(`${where} occurs twice`);
    if (this.#entries.size >= ARCHIVE_MAX_ENTRIES)
      throw badArchive(`it has more than ${ARCHIVE_MAX_ENTRIES} entries`);
    if ((header.mode & 0o6000) !== 0) throw badArchive(`${where} has a setuid or setgid bit`);
    const entry = this.#entryOf(path, header);
    this.#checkPlace(entry);
    this.#bytes += entry.size;
    if (this.#bytes > ARCHIVE_MAX_BYTES) throw badArchive('it is larger than 1 GiB when unpacked');
    this.#entries.set(path, entry);
    return entry;
  }

  /** @throws IDKIT_DAMAGED if a link points outside `config/`, even if it does so through other links */
  finish(): readonly CheckedEntry[] {
    const links = new Map<string, string>();
    for (const entry of this.#entries.values())
      if (entry.target !== undefined) links.set(entry.path, entry.target);
    for (const path of links.keys())
      if (!linkStaysInside(path, links))
        throw badArchive(`the link ${printable(path)} points outside config/`);
    return [...this.#entries.values()];
  }

  #checkPath(raw: string): string | undefined {
    if (raw.startsWith('/')) throw badArchive(`${printable(raw)} is an absolute name`);
    if (raw.includes('\0')) throw badArchive(`${printable(raw)} is not a file name`);
    const parts = raw.split('/').filter((part) => part !== '' && part !== '.');
    if (parts.includes('..')) throw badArchive(`${printable(raw)} points outside the archive`);
    if (parts.length === 0) return undefined;
    if (parts.includes('.env')) throw badArchive(`${printable(raw)} is an environment file`);
    if (parts.some((part) => Buffer.byteLength(part) > 255) || Buffer.byteLength(raw) > 4095)
      throw badArchive(`${printable(raw)} is too long for a file name`);
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
        throw badArchive(`${printable(path)} is a device`);
      case '6':
        throw badArchive(`${printable(path)} is a FIFO`);
      default:
        throw badArchive(`${printable(path)} has the unknown type ${printable(header.type)}`);
    }
  }

  #copyOf(path: string, target: string) {
    const name = this.#checkPath(target);
    const original = name === undefined ? undefined : this.#entries.get(name);
    if (original?.type !== 'file')
      throw badArchive(`the hard link ${printable(path)} points outside the archive`);
    return { size: original.size, copyOf: original.path };
  }

  #checkPlace(entry: CheckedEntry): void {
    const parts = entry.path.split('/');
    const isTopFile = parts.length === 1 && TOP_FILES.includes(entry.path) && entry.type === 'file';
    const isConfig = parts[0] === 'config' && (parts.length > 1 || entry.type === 'directory');
    if (!isTopFile && !isConfig)
      throw badArchive(
        `${printable(entry.path)} is outside config/ and is neither idkit.yaml nor compose.yaml`,
      );
    for (let depth = 1; depth < parts.length; depth++) {
      const parent = parts.slice(0, depth).join('/');
      const above = this.#entries.get(parent);
      if (above !== undefined && above.type !== 'directory')
        throw badArchive(`${printable(entry.path)} is below ${printable(parent)}, which is not a directory`);
      this.#implied.add(parent);
    }
    if (entry.type !== 'directory' && this.#implied.has(entry.path))
      throw badArchive(`${printable(entry.path)} is not a directory, but other entries are below it`);
  }
}

/**
 * True if a link resolves to a path inside `config/`. The text of the target alone does not prove that: `up/..` is
 * inside, unless `up` is a link to a higher directory.
 *
 * @param links the target of each link by its path, all below `config`
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
        // A loop never resolves, so it does not point outside.
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
