import {
  badInput,
  type Caller,
  eraseRealm,
  eraseTrash,
  forbidden,
  holdsMasterRole,
  type Json,
  listDeletedRealms,
  listTrash,
  type Right,
  restoreRealm,
  restoreTrash,
  type TrashQuery,
} from '../../admin/index.ts';
import { inTurns } from '../../core/index.ts';
import { recordKey } from '../../model/index.ts';
import { STATUS } from '../responses/statuses.ts';
import type { Route, Services } from '../url-table/route.ts';
import { pathParameter } from '../url-table/url-table.ts';
import type { AdminRow } from './admin-row.ts';
import { authenticate, originHeaders } from './authenticate.ts';
import type { AdminCall } from './call.ts';
import { type Query, readQuery, texts } from './query.ts';
import { readJson, readText } from './read-json.ts';
import { sendJson } from './send-pages.ts';
import { theGroups } from './written-records.ts';

type Request = Parameters<Route['handle']>[1];

/** The kind of a deleted record decides which of two rights its routes require. Every caller needs one of them. */
const creatorRight = ({ rights }: AdminCall): Right =>
  rights.has('manageUsers') ? 'manageUsers' : 'manageClients';

/** The routes of a realm's deleted users, clients and groups. Keycloak has no such paths. */
export const trashRows: readonly AdminRow[] = [
  {
    method: 'GET',
    path: '/trash',
    right: creatorRight,
    handle: (call) => listTrash(call, trashQuery(call.query)),
  },
  {
    method: 'POST',
    path: '/trash/:entry/restore',
    right: creatorRight,
    writes: [theGroups],
    handle: (call) => restoreTrash(call, call.param('entry'), readBody(call.request)),
  },
  {
    method: 'DELETE',
    path: '/trash/:entry',
    right: creatorRight,
    writes: [theGroups],
    handle: (call) => eraseTrash(call, call.param('entry')),
  },
];

/** The routes of deleted realms, which have no path of their own any more. */
export const deletedRealmRoutes: readonly Route[] = [
  realmsRoute('GET', '/admin/trash', ({ services, request }) =>
    listDeletedRealms(services.admin, trashQuery(readQuery(request))),
  ),
  realmsRoute('POST', '/admin/trash/:entry/restore', ({ services, caller, request }) =>
    ofEntry(services, request, (id) => restoreRealm(services.admin, caller, id, readBody(request))),
  ),
  realmsRoute('DELETE', '/admin/trash/:entry', ({ services, caller, request }) =>
    ofEntry(services, request, (id) => eraseRealm(services.admin, caller, id)),
  ),
];

interface TrashCall {
  services: Services;
  caller: Caller;
  request: Request;
}

/** Creates a route for callers who may create realms. */
function realmsRoute(
  method: 'GET' | 'POST' | 'DELETE',
  url: string,
  handle: (call: TrashCall) => Promise<unknown>,
): Route {
  const check = async ({ admin }: Services, caller: Caller): Promise<void> => {
    if (!(await holdsMasterRole(admin, caller, 'create-realm'))) throw forbidden();
  };
  return {
    method,
    url,
    authorize: async (services, request) => check(services, await authenticate(services, request)),
    handle: async (services, request, reply) => {
      const caller = await authenticate(services, request);
      reply.headers(originHeaders(request));
      await check(services, caller);
      const value = await handle({ services, caller, request });
      return value === undefined ? reply.code(STATUS.noContent).send() : sendJson(reply, value);
    },
  };
}

/** Runs a change of a deleted realm while no other call deletes or restores the same realm. */
async function ofEntry<T>(
  { admin }: Services,
  request: Request,
  change: (id: string) => Promise<T>,
): Promise<T> {
  const id = pathParameter(request, 'entry');
  const entry = await admin.store.findTrash(id);
  const keys = new Set(entry === undefined ? [] : [recordKey('realm', entry.recordId)]);
  return await inTurns(admin.store, keys, () => change(id));
}

function trashQuery(query: Query): TrashQuery {
  return { ...query.page(100), ...texts(query, { kind: 'kind', search: 'search' }) };
}

/** Returns the body of a restore, which may be empty. @throws AdminRefusal 400 */
function readBody(request: Request): Json {
  if (readText(request) === '') return {};
  const body = readJson(request);
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw badInput('invalid_request', 'The body is a JSON object');
  const { name } = body as Json;
  if (name !== undefined && typeof name !== 'string') throw badInput('invalid_request', 'The name is a text');
  return body as Json;
}
