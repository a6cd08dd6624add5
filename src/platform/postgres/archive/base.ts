import { type BaseWriter, LARGEST_PART } from '../../../archive/index.ts';
import type { BaseEvent, Lsn } from '../../../pgtools/index.ts';
import type { SizedArchive } from './facts.ts';

/** A base backup that was written to an archive. */
export interface WrittenBase {
  timeline: number;
  /** The position from which on the WAL is needed. */
  start: Lsn;
  /** The position from which on the cluster can be recovered. */
  end: Lsn;
  archives: readonly SizedArchive[];
  bytes: number;
}

/** Writes a base backup to a chain in parts. The caller ends the base. */
export async function writeBase(
  events: AsyncIterable<BaseEvent>,
  writer: BaseWriter,
  onBytes: (bytes: number) => void = () => {},
): Promise<WrittenBase> {
  const archives: SizedArchive[] = [];
  const written = { timeline: 0, start: 0n, end: 0n, bytes: 0 };
  const part = Buffer.allocUnsafe(LARGEST_PART);
  let filled = 0;
  for await (const event of events) {
    switch (event.kind) {
      case 'start':
        written.start = event.at;
        written.timeline = event.timeline;
        break;
      case 'archive':
        archives.push({
          name: event.name,
          ...(event.location === undefined ? {} : { location: event.location }),
          bytes: 0,
        });
        break;
      case 'data': {
        const current = archives.at(-1);
        if (current !== undefined) current.bytes += event.bytes.length;
        written.bytes += event.bytes.length;
        for (let at = 0; at < event.bytes.length; ) {
          const copied = event.bytes.copy(part, filled, at);
          at += copied;
          filled += copied;
          if (filled < part.length) continue;
          await writer.put(part);
          filled = 0;
          onBytes(written.bytes);
        }
        break;
      }
      case 'end':
        written.end = event.at;
    }
  }
  if (filled > 0) await writer.put(part.subarray(0, filled));
  return { ...written, archives };
}
