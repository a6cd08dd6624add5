import type { FastifyReply } from 'fastify';
import { inTurns } from '../../core/index.ts';
import { recordKey } from '../../model/index.ts';
import type { Route } from '../route.ts';
import { type AdminCall, answer, authorizeInRealm, openCall } from './call.ts';
import type { AdminRow, WritingRow } from './row.ts';

/** How often a row takes its turns again because meanwhile its path names other records. */
const TRIES = 5;

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

/** The one place in which a row's right is checked. @throws AdminRefusal */
async function checkRight(row: AdminRow, call: AdminCall): Promise<void> {
  await row.of?.(call);
  const right = typeof row.right === 'function' ? row.right(call) : row.right;
  if (right !== 'none') call.rights.check(right);
}

/**
 * Runs a row in the turns of the records that it writes. Who may not, waits for none. A path names some records by what
 * another change may move (a role by its name), so everything is read again once the turns are there.
 */
async function change(row: WritingRow, open: () => Promise<AdminCall>): Promise<FastifyReply> {
  for (let tries = 1; ; tries++) {
    const call = await open();
    const keys = await keysOf(row, call);
    if (keys.size === 0) return answer(call, await row.handle(call));
    const done = await inTurns(call.context.store, keys, async () => {
      const now = await open();
      if (tries < TRIES && !(await keysOf(row, now)).isSubsetOf(keys)) return undefined;
      return { reply: answer(now, await row.handle(now)) };
    });
    if (done !== undefined) return done.reply;
  }
}

async function keysOf(row: WritingRow, call: AdminCall): Promise<ReadonlySet<string>> {
  const keys = new Set<string>();
  for (const { kind, ids } of row.writes) for (const id of await ids(call)) keys.add(recordKey(kind, id));
  return keys;
}
