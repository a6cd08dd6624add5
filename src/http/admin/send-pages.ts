import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { Json, Pages } from '../../admin/index.ts';
import { callerSignal, Slices } from '../../core/index.ts';
import type { ServiceLog } from '../url-table/route.ts';

/** Maximum number of bytes that wait for a slow caller before the next page is read from the database. */
const AHEAD = 65_536;

/** A list with more entries is written in slices. Writing so many takes a few milliseconds. */
const ENTRIES_AT_ONCE = 200;

/** Sends any JSON value, including a bare number. A long list is written in slices, so that other work runs in between. */
export function sendJson(reply: FastifyReply, value: unknown): FastifyReply {
  if (!reply.hasHeader('content-type')) reply.header('content-type', 'application/json');
  if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'no-cache');
  if (!Array.isArray(value) || value.length <= ENTRIES_AT_ONCE) return reply.send(JSON.stringify(value));
  return reply.send(streamed(partsOf(value)));
}

async function* partsOf(entries: readonly Json[]): AsyncIterable<string> {
  const slices = new Slices();
  for (let from = 0; from < entries.length; from += ENTRIES_AT_ONCE) {
    await slices.pause();
    yield `${from === 0 ? '[' : ','}${items(entries.slice(from, from + ENTRIES_AT_ONCE))}`;
  }
  yield ']';
}

function streamed(parts: AsyncIterable<string>): Readable {
  return Readable.from(parts, { objectMode: false, highWaterMark: AHEAD });
}

/**
 * Sends a list as one JSON array. A single page is an ordinary response. Several pages are streamed as fast as the
 * caller reads. A failure before the second page becomes an error response. A later failure aborts the response: it has
 * no last chunk, or the connection is reset for a caller with HTTP/1.0, which would take a regular end for that of the
 * list. A HEAD request reads no more than the beginning.
 */
export async function sendPages(
  reply: FastifyReply,
  { pages }: Pages,
  log: Pick<ServiceLog, 'error'> | undefined,
): Promise<FastifyReply> {
  const rest = pages[Symbol.asyncIterator]();
  const first = await rest.next();
  const second = first.done === true ? first : await rest.next();
  if (!reply.hasHeader('content-type')) reply.header('content-type', 'application/json');
  reply.header('cache-control', 'no-cache');
  if (second.done === true) return reply.send(JSON.stringify(first.value ?? []));
  if (reply.request.method === 'HEAD') {
    await rest.return?.();
    return reply.send(Readable.from([]));
  }
  const chunks = async function* () {
    try {
      yield `[${items(first.value)},${items(second.value)}`;
      for (let page = await rest.next(); page.done !== true; page = await rest.next())
        yield `,${items(page.value)}`;
    } catch (error) {
      // If the caller has disconnected, the read was aborted on purpose, so there is nothing to log.
      if (callerSignal()?.aborted !== true && !reply.raw.destroyed)
        log?.error({ err: error }, 'a list is incomplete because its next page could not be read');
      if (reply.request.raw.httpVersion === '1.0') reply.raw.socket?.resetAndDestroy();
      throw error;
    } finally {
      // If the caller disconnects in between, the list can give back what it holds.
      await rest.return?.();
    }
    yield ']';
  };
  return reply.send(streamed(chunks()));
}

function items(page: readonly Json[]): string {
  return JSON.stringify(page).slice(1, -1);
}
