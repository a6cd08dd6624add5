import type { BaseEnd, ChainListing, FileHeader } from '../../../archive/index.ts';
import { damaged } from '../../../archive/index.ts';
import type { BaseArchive, Lsn } from '../../../pgtools/index.ts';

/** What the first file of a chain says about the cluster. */
export interface ChainFacts {
  kind: 'postgres';
  systemIdentifier: string;
  major: number;
  /** The size of a WAL file in bytes. */
  walFileBytes: number;
  /** The timeline of the base backup. */
  timeline: number;
  /** Why the chain began. */
  reason: string;
}

/** An archive of a base backup, and its size in bytes. */
export interface SizedArchive extends BaseArchive {
  bytes: number;
}

/** Returns the facts about a chain, or undefined if it is not the chain of a Postgres cluster. */
export function readChainFacts({ detail }: FileHeader): ChainFacts | undefined {
  const { kind, systemIdentifier, major, walFileBytes, timeline, reason } = detail;
  if (
    kind !== 'postgres' ||
    typeof systemIdentifier !== 'string' ||
    typeof major !== 'number' ||
    typeof walFileBytes !== 'number' ||
    typeof timeline !== 'number' ||
    typeof reason !== 'string'
  )
    return undefined;
  return { kind, systemIdentifier, major, walFileBytes, timeline, reason };
}

/** Formats the list of a base backup's archives for the last file of a base. */
export function renderArchives(archives: readonly SizedArchive[]): string {
  return JSON.stringify(archives);
}

/** Parses the list of a base backup's archives. @throws IDKIT_DAMAGED */
export function parseArchives({ name }: ChainListing, { base, detail }: BaseEnd): readonly SizedArchive[] {
  const fault = () => damaged(`${name}, base ${base}`, 'its list of archives is invalid');
  if (typeof detail['archives'] !== 'string') throw fault();
  const list: unknown = JSON.parse(detail['archives']);
  if (!Array.isArray(list)) throw fault();
  return list.map((entry: unknown) => {
    const { name: archive, location, bytes } = Object(entry) as Record<string, unknown>;
    if (typeof archive !== 'string' || typeof bytes !== 'number') throw fault();
    return { name: archive, bytes, ...(typeof location === 'string' ? { location } : {}) };
  });
}

/** A position as a number. The headers of an archive hold positions up to 8 PiB. */
export function asNumber(position: Lsn): number {
  return Number(position);
}
