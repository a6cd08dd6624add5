import { IdkitError } from '../../core/index.ts';

/**
 * A position in the write-ahead log (WAL) of a Postgres cluster, in bytes from its beginning. The documentation of
 * Postgres calls it a log sequence number, LSN.
 */
export type Lsn = bigint;

/** Parses a position as Postgres writes it, for example `16/B374D848`. */
export function parseLsn(text: string): Lsn {
  const [, high, low] = /^([0-9A-Fa-f]{1,8})\/([0-9A-Fa-f]{1,8})$/.exec(text) ?? [];
  if (high === undefined || low === undefined)
    throw new IdkitError('IDKIT_DAMAGED', `${JSON.stringify(text)} is not a position in the WAL of Postgres`);
  return (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`);
}

/** Formats a position as Postgres writes it. */
export function showLsn(position: Lsn): string {
  return `${(position >> 32n).toString(16).toUpperCase()}/${(position & 0xffff_ffffn).toString(16).toUpperCase()}`;
}

/**
 * Returns the name of the WAL file that contains `position`.
 *
 * @param fileBytes the size of a WAL file of the cluster in bytes, usually 16 MiB (`wal_segment_size`)
 */
export function walFileName(timeline: number, position: Lsn, fileBytes: number): string {
  const number = position / BigInt(fileBytes);
  const perHigh = 0x1_0000_0000n / BigInt(fileBytes);
  return [BigInt(timeline), number / perHigh, number % perHigh]
    .map((part) => part.toString(16).toUpperCase().padStart(8, '0'))
    .join('');
}

/** Returns the position of the first byte of the WAL file that contains `position`. */
export function walFileStart(position: Lsn, fileBytes: number): Lsn {
  return position - (position % BigInt(fileBytes));
}

/** Returns the name of the file that says where a timeline branched off from its parents. */
export function historyFileName(timeline: number): string {
  return `${timeline.toString(16).toUpperCase().padStart(8, '0')}.history`;
}
