import { IdkitError } from '../core/index.ts';
import type { SetHandle } from './contract.ts';
import { SET_FILES } from './contract.ts';
import { POSTGRES_START } from './dump-postgres.ts';
import { gunzip } from './gunzip.ts';

/** A dump tells what it is within its first comments. */
const HEAD_BYTES = 64 * 1024;

/** What the first lines of a set's dump say that it is; they prove nothing. */
export interface DumpHead {
  kind: 'sqlite' | 'postgres';
  /** Of the Postgres server that it was made from. */
  serverMajor?: number;
}

/** Undefined where the dump cannot be read so far: its verification tells why. */
export async function findDumpHead(set: SetHandle): Promise<DumpHead | undefined> {
  let head = '';
  try {
    for await (const chunk of gunzip(set.stream(SET_FILES.dump), SET_FILES.dump)) {
      head += chunk.toString('latin1');
      if (head.length >= HEAD_BYTES) break;
    }
  } catch (error) {
    if (!(error instanceof IdkitError)) throw error;
  }
  if (head === '') return undefined;
  const lines = head.slice(0, HEAD_BYTES).split('\n');
  if (!lines.includes(POSTGRES_START)) return { kind: 'sqlite' };
  const version = lines.map((line) => /^-- Dumped from database version (\d+)/.exec(line)?.[1]).find(Boolean);
  return { kind: 'postgres', ...(version === undefined ? {} : { serverMajor: Number(version) }) };
}
