import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  type Caller,
  findRights,
  forbidden,
  type Json,
  notFound,
  Pages,
  type RealmCall,
} from '../../admin/index.ts';
import { onBehalfOf } from '../../protocol/index.ts';
import { STATUS } from '../responses/statuses.ts';
import type { Services } from '../url-table/route.ts';
import { pathParameter } from '../url-table/url-table.ts';
import { authenticate, originHeaders } from './authenticate.ts';
import { type Query, readQuery } from './query.ts';
import { sendJson, sendPages } from './send-pages.ts';

/** A request of an administrator below `/admin/realms/{realm}`. */
export interface AdminCall extends RealmCall {
  services: Services;
  request: FastifyRequest;
  reply: FastifyReply;
  param(name: string): string;
  query: Query;
}

/** The result of a handler that created a record. The response has status 201 and the location of the record. */
export class Created {
  readonly path: string;
  readonly body: Json | undefined;

  /** @param path the path of the record below the realm */
  constructor(path: string, body?: Json) {
    this.path = path;
    this.body = body;
  }
}

/** Checks that the caller has any right in the realm of the path. @throws AdminRefusal */
export async function authorizeInRealm(services: Services, request: FastifyRequest): Promise<void> {
  const caller = await authenticate(services, request);
  const { rights } = await openRealm(services, request, caller);
  if (!rights.any) throw forbidden();
}

/** Maximum number of times that a realm and the caller's rights in it are read, if the realm changes in between. */
const ATTEMPTS = 3;

async function openRealm(services: Services, request: FastifyRequest, caller: Caller) {
  const realm = pathParameter(request, 'realm');
  const context = services.admin;
  for (let left = ATTEMPTS - 1; ; left--) {
    const configuration = await context.store.findRealm(realm);
    if (configuration === undefined) throw notFound('Realm not found.');
    const rights = await findRights(context, caller, configuration);
    // If the realm is renamed between the two reads, the client that holds the rights is renamed too, and no rights are
    // found. The store returns the same object until the realm changes.
    const isCurrent = rights.any || left === 0 || (await context.store.findRealm(realm)) === configuration;
    if (isCurrent) return { context, caller, configuration, rights };
  }
}

/** Authenticates the caller and loads the realm and the caller's current rights in it. @throws AdminRefusal */
export async function openCall(
  services: Services,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<AdminCall> {
  const caller = await authenticate(services, request);
  reply.headers(originHeaders(request));
  const opened = await openRealm(services, request, caller);
  if (caller.realmName !== 'master' && caller.realmId !== opened.configuration.realm.id) throw forbidden();
  const { realm } = opened.configuration;
  return {
    ...opened,
    context: onBehalfOf(opened.context, { realmId: realm.id, address: request.ip, user: caller.userId }),
    services,
    request,
    reply,
    param: (name) => pathParameter(request, name),
    query: readQuery(request),
  };
}

/** Sends the result of a handler: `Created` as 201, undefined as 204, a list of pages or any other value as 200. */
export function sendResult(call: AdminCall, value: unknown): FastifyReply | Promise<FastifyReply> {
  const { reply, configuration, context } = call;
  if (value instanceof Created) {
    const realm = encodeURIComponent(configuration.realm.name);
    reply.code(STATUS.created).header('location', `${context.baseUrl}/admin/realms/${realm}/${value.path}`);
    return value.body === undefined ? reply.send() : sendJson(reply, value.body);
  }
  if (value === undefined) return reply.code(STATUS.noContent).send();
  if (value instanceof Pages) return sendPages(reply, value, call.services.log);
  return sendJson(reply, value);
}
