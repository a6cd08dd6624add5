import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { Json, Pages } from '../../admin/index.ts';
import { callerSignal } from '../../core/index.ts';
import type { ServiceLog } from '../url-table/route.ts';

/** Bytes that wait for a slow reader before the next page is read. */
const AHEAD = 65_536;

/**
 * Sends a list as one JSON array. One page is sent as any other answer is; more go out as they are read, as fast as the
 * other end takes them. What fails before the second page is answered as an error; what fails later cuts the answer off.
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
  const parts = async function* () {
    yield `[${items(first.value)},${items(second.value)}`;
    try {
      for (let page = await rest.next(); page.done !== true; page = await rest.next())
        yield `,${items(page.value)}`;
    } catch (error) {
      // Who has gone needs no rest of it.
      if (callerSignal()?.aborted !== true && !reply.raw.destroyed)
        log?.error({ err: error }, 'a list was cut off: its next page could not be read');
      throw error;
    }
    yield ']';
  };
  return reply.send(Readable.from(parts(), { objectMode: false, highWaterMark: AHEAD }));
}

function items(page: readonly Json[]): string {
  return JSON.stringify(page).slice(1, -1);
}
