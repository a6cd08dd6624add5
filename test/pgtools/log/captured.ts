import { writeFile } from 'node:fs/promises';
import { parsePostgresUrl } from '../../../src/config/index.ts';
import { Secret } from '../../../src/core/index.ts';
import {
  type BaseArchive,
  type Lsn,
  type RecoverySource,
  Replication,
  walFileName,
  walFileStart,
} from '../../../src/pgtools/log/index.ts';
import type { PostgresServer } from '../../store/postgres-server.ts';

export const FILE_BYTES = 16 * 1024 * 1024;

/** A base backup and WAL that a test holds in memory. */
export interface Captured {
  major: number;
  timeline: number;
  archives: (BaseArchive & { parts: Buffer[] })[];
  start: Lsn;
  /** The end of the base backup. */
  end: Lsn;
  log: { start: Lsn; bytes: Buffer }[];
}

/** Opens a connection of the replication protocol as the superuser. */
export async function replicate(server: PostgresServer): Promise<Replication> {
  return Replication.open({
    address: parsePostgresUrl(server.url),
    password: new Secret(server.password),
    applicationName: 'idkit test',
  });
}

/** Makes a base backup. The slot `name` keeps the WAL from its beginning on. */
export async function captureBase(server: PostgresServer, name: string): Promise<Captured> {
  const connection = await replicate(server);
  try {
    await connection.query(`CREATE_REPLICATION_SLOT "${name}" PHYSICAL (RESERVE_WAL true)`);
    const captured: Captured = {
      major: connection.major,
      timeline: 0,
      archives: [],
      start: 0n,
      end: 0n,
      log: [],
    };
    for await (const event of connection.streamBase('test')) {
      if (event.kind === 'start') Object.assign(captured, { start: event.at, timeline: event.timeline });
      if (event.kind === 'archive') captured.archives.push({ ...event, parts: [] });
      if (event.kind === 'data') captured.archives.at(-1)!.parts.push(Buffer.from(event.bytes));
      if (event.kind === 'end') captured.end = event.at;
    }
    return captured;
  } finally {
    connection.close();
  }
}

/** Streams the WAL until everything before `until` is captured. */
export async function captureLog(
  server: PostgresServer,
  captured: Captured,
  name: string,
  until: Lsn,
): Promise<void> {
  const connection = await replicate(server);
  let at = walFileStart(captured.start, FILE_BYTES);
  for await (const event of connection.streamLog({ slot: name, from: at, timeline: captured.timeline })) {
    if (event.kind !== 'data') continue;
    captured.log.push({ start: event.start, bytes: Buffer.from(event.bytes) });
    at = event.start + BigInt(event.bytes.length);
    if (at >= until) break;
  }
  connection.close();
}

/** Returns the captured base and WAL as the source of a recovery. */
export function sourceOf(captured: Captured): RecoverySource {
  return {
    major: captured.major,
    timeline: captured.timeline,
    base: (async function* () {
      for (const { parts, ...archive } of captured.archives) yield { ...archive, content: streamOf(parts) };
    })(),
    async supply(file, path) {
      const bytes = Buffer.alloc(FILE_BYTES);
      let filled = 0;
      for (const { start, bytes: part } of captured.log) {
        if (walFileName(captured.timeline, start, FILE_BYTES) !== file) continue;
        part.copy(bytes, Number(start % BigInt(FILE_BYTES)));
        filled += part.length;
      }
      if (filled > 0) await writeFile(path, bytes, { mode: 0o600 });
      return filled > 0;
    },
  };
}

async function* streamOf(parts: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* parts;
}
