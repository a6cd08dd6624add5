import type { FastifyReply } from 'fastify';
import { type Caller, forbidden, holdsMasterRole, StaleRecord } from '../../admin/index.ts';
import { inTurns, untilApplied } from '../../core/index.ts';
import { recordKey } from '../../model/index.ts';
import type { Route, Services } from '../url-table/route.ts';
import type { AdminRow, RealmsRow, WritingRow } from './admin-row.ts';
import { authenticate, originHeaders } from './authenticate.ts';
import { type AdminCall, answer, authorizeInRealm, openCall, sendJson } from './call.ts';

/** The row of the URL table that answers a row of the administrative API. */
export function adminRoute(row: AdminRow): Route {
  return {
    method: row.method,
    url: `/admin/realms/:realm${row.path}`,
    authorize: authorizeInRealm,
    handle: async (services, request, reply) => {
      const open = async (): Promise<AdminCall> => {
        const call = await openCall(services, request, reply);
        await checkRight(row, call);
        return call;
      };
      if ('writes' in row) return await change(row, open);
      const call = await open();
      return answer(call, await row.handle(call));
    },
  };
}

/** The row of the URL table that answers a row of `/admin/realms` itself. */
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
      const value = await row.handle({ services, caller, request, reply });
      return value === undefined ? reply.send() : sendJson(reply, value);
    },
  };
}

/** The one place in which a row's right is checked. @throws AdminRefusal */
async function checkRight(row: AdminRow, call: AdminCall): Promise<void> {
  await row.of?.(call);
  const right = typeof row.right === 'function' ? row.right(call) : row.right;
  if (right !== 'none') call.rights.check(right);
}

/**
 * Runs a row in the turns of the records that it writes, from the first read to the last write. Who may not, waits for
 * none. A path names some records by what another change may move (a role by its name), so everything is read again
 * once the turns are there. What another change reached without its turn is refused by the store, and the row runs
 * again with what is there now.
 *
 * @throws AdminRefusal, IDKIT_CHANGED
 */
async function change(row: WritingRow, open: () => Promise<AdminCall>): Promise<FastifyReply> {
  const { call, value } = await untilApplied(
    () => attempt(row, open),
    ({ what, id, call }) =>
      call?.services.log?.warn(
        { method: row.method, path: row.path, what, id },
        `a change of ${what} ${id} begins again: another one came between its reading and its writing`,
      ),
  );
  return answer(call, value);
}

/** `stale` where a record was changed, or the path names another one, since it was read. */
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
    const [other] = (await keysOf(row, call)).difference(keys);
    if (other !== undefined) return { outcome: 'stale', what: 'path', id: row.path };
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
