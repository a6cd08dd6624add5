import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import {
  ArchiveReader,
  deriveArchiveKeys,
  listChains,
  type Moment,
  planRecovery,
} from '../../src/archive/index.ts';
import { Secret } from '../../src/core/index.ts';
import { Replay } from '../../src/store/open.ts';
import { openTarget } from '../../src/target/index.ts';

export const KEYS = deriveArchiveKeys(new Secret(Buffer.alloc(32, 7).toString('base64')));

/** One write of archive-writer.ts: when it was sent, and when it was answered. */
export interface Written {
  sent: number;
  answered: number | undefined;
}

/** Reads the ledger of archive-writer.ts. */
export function readLedger(dir: string): ReadonlyMap<number, Written> {
  const writes = new Map<number, Written>();
  for (const line of readFileSync(join(dir, 'ledger'), 'utf8').split('\n').slice(0, -1)) {
    const [kind, n, at] = line.split(' ');
    if (kind === 'S') writes.set(Number(n), { sent: Number(at), answered: undefined });
    else writes.get(Number(n))!.answered = Number(at);
  }
  return writes;
}

/** Restores a moment and returns the numbers of the writes in it, with the time of its last transaction. */
export async function restoreWrites(
  dir: string,
  moment: Moment,
  location = join(dir, 'archive'),
): Promise<{ found: ReadonlySet<number>; at: number; chain: string }> {
  const target = await openTarget(location);
  const reader = new ArchiveReader(target, KEYS);
  const { chain, base, mark } = await planRecovery(reader, await listChains(target), moment);
  const file = join(dir, 'restored.db');
  const replay = new Replay(file);
  for await (const part of reader.base(chain, base.base)) replay.addBase(part);
  for await (const { header, content } of reader.log(chain, base.after)) {
    if (mark.position === 0 || header.generation > mark.generation) break;
    replay.addLog(header.generation, header.start, content);
    if (header.generation === mark.generation && header.start + content.length >= mark.position) break;
  }
  replay.finish(mark.position);
  await target.close();
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const broken = database.prepare('PRAGMA integrity_check').get()?.['integrity_check'];
    if (broken !== 'ok') throw new Error(`the restored database is damaged: ${String(broken)}`);
    const rows = database.prepare(`SELECT name FROM meta WHERE name LIKE 'n-%'`).all();
    return {
      found: new Set(rows.map(({ name }) => Number(String(name).slice(2)))),
      at: mark.at,
      chain: chain.name,
    };
  } finally {
    database.close();
  }
}

/** Returns what contradicts the promise for a moment: every write that was answered by then, and none that came later. */
export function contradictions(
  writes: ReadonlyMap<number, Written>,
  found: ReadonlySet<number>,
  at: number,
): readonly string[] {
  const wrong: string[] = [];
  for (const [n, { sent, answered }] of writes) {
    if (answered !== undefined && answered <= at && !found.has(n))
      wrong.push(`${n} answered at ${answered} is missing at ${at}`);
    if (sent > at && found.has(n)) wrong.push(`${n} sent at ${sent} is there at ${at}`);
  }
  return wrong;
}
