import type { FastifyReply } from 'fastify';
import { type Caller, forbidden, holdsMasterRole, Pages, StaleRecord } from '../../admin/index.ts';
import { inTurns, untilApplied } from '../../core/index.ts';
import { recordKey } from '../../model/index.ts';
import type { Route, Services } from '../url-table/route.ts';
import type { AdminRow, RealmsRow, WritingRow } from './admin-row.ts';
import { authenticate, originHeaders } from './authenticate.ts';
import { type AdminCall, authorizeInRealm, openCall, sendResult } from './call.ts';
import { parseLargeBody } from './read-json.ts';
import { sendJson, sendPages } from './send-pages.ts';

/** Creates the route of one row of the administrative API's table. */
export function adminRoute(row: AdminRow): Route {
  return {
    method: row.method,
    url: `/admin/realms/:realm${row.path}`,
    authorize: authorizeInRealm,
    handle: async (services, request, reply) => {
      const open = async (): Promise<AdminCall> => {
        const call = await openCall(services, request, reply);
        await checkRight(row, call);
        await parseLargeBody(request);
        return call;
      };
      if ('writes' in row) return await change(row, open);
      const call = await open();
      return sendResult(call, await row.handle(call));
    },
  };
}

/** Creates the route of a row of `/admin/realms` itself. */
export function realmsRoute(row: RealmsRow): Route {
  const check = async ({ admin }: Services, caller: Caller): Promise<void> => {
    if (row.right !== 'none' && !(await holdsMasterRole(admin, caller, row.right))) throw forbidden();
  };
  return {
    method: row.method,
    url: '/admin/realms',
    authorize: async (services, request) => check(services, await authenticate(services, request)),
    handle: async (services, request, reply) => {
      const caller = await authenticate(services, request);
      reply.headers(originHeaders(request));
      await check(services, caller);
      await parseLargeBody(request);
      const value = await row.handle({ services, caller, request, reply });
      if (value instanceof Pages) return sendPages(reply, value, services.log);
      return value === undefined ? reply.send() : sendJson(reply, value);
    },
  };
}

/** Checks the right that a route requires. No other function checks it. @throws AdminRefusal */
async function checkRight(row: AdminRow, call: AdminCall): Promise<void> {
  await row.of?.(call);
  const right = typeof row.right === 'function' ? row.right(call) : row.right;
  if (right !== 'none') call.rights.check(right);
}

/**
 * Runs a route that writes. It holds the locks of the records that it writes, from its first read to its last write.
 * Unauthorized callers do not wait for locks. A path can identify a record by a property that changes, such as a role
 * name, so the records are read again when the locks are held. The store rejects a write to a record that was changed
 * without its lock. The route then runs again on the current record.
 *
 * @throws AdminRefusal, IDKIT_CHANGED
 */
async function change(row: WritingRow, open: () => Promise<AdminCall>): Promise<FastifyReply> {
  const { call, value } = await untilApplied(
    () => attempt(row, open),
    ({ what, id, call }) =>
      call?.services.log?.warn(
        { method: row.method, path: row.path, what, id },
        `retrying a change of ${what} ${id}, because another request changed it in the meantime`,
      ),
  );
  return sendResult(call, value);
}

/** The outcome of an attempt if a record has changed since it was read, or if the path now names another record. */
interface StaleAttempt {
  outcome: 'stale';
  what: string;
  id: string;
  call?: AdminCall;
}

async function attempt(
  row: WritingRow,
  open: () => Promise<AdminCall>,
): Promise<{ call: AdminCall; value: unknown } | StaleAttempt> {
  const first = await open();
  const keys = await keysOf(row, first);
  return await inTurns(first.context.store, keys, async () => {
    const call = keys.size === 0 ? first : await open();
    const [added] = (await keysOf(row, call)).difference(keys);
    if (added !== undefined) return { outcome: 'stale', what: 'path', id: row.path };
    try {
      return { call, value: await row.handle({ ...call, turns: keys }) };
    } catch (error) {
      if (error instanceof StaleRecord) return { ...error.stale, call };
      throw error;
    }
  });
}

async function keysOf(row: WritingRow, call: AdminCall): Promise<ReadonlySet<string>> {
  const keys = new Set<string>();
  for (const { kind, ids } of row.writes) for (const id of await ids(call)) keys.add(recordKey(kind, id));
  return keys;
}
