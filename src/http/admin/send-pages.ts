import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { Json, Pages } from '../../admin/index.ts';
import { callerSignal } from '../../core/index.ts';
import type { ServiceLog } from '../url-table/route.ts';

/** Maximum number of bytes that wait for a slow caller before the next page is read from the database. */
const AHEAD = 65_536;

/**
 * Sends a list as one JSON array. A single page is an ordinary response. Several pages are streamed as fast as the
 * caller reads. A failure before the second page becomes an error response, and a later failure truncates the response.
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
  const chunks = async function* () {
    yield `[${items(first.value)},${items(second.value)}`;
    try {
      for (let page = await rest.next(); page.done !== true; page = await rest.next())
        yield `,${items(page.value)}`;
    } catch (error) {
      // If the caller has disconnected, the read was aborted on purpose, so there is nothing to log.
      if (callerSignal()?.aborted !== true && !reply.raw.destroyed)
        log?.error({ err: error }, 'a list is incomplete because its next page could not be read');
      throw error;
    }
    yield ']';
  };
  return reply.send(Readable.from(chunks(), { objectMode: false, highWaterMark: AHEAD }));
}

function items(page: readonly Json[]): string {
  return JSON.stringify(page).slice(1, -1);
}
