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
import type { Services } from '../url-table/route.ts';
import { authenticate, originHeaders } from './authenticate.ts';
import { type Query, readQuery } from './query.ts';
import { sendPages } from './send-pages.ts';

/** A request of an administrator below `/admin/realms/{realm}`. */
export interface AdminCall extends RealmCall {
  services: Services;
  request: FastifyRequest;
  reply: FastifyReply;
  /** The part of the path called `name`. */
  param(name: string): string;
  query: Query;
}

/** What a handler answers beside a plain value, which is a 200, and undefined, which is a 204. */
export class Created {
  readonly path: string;
  readonly body: Json | undefined;

  /** `path` is below the realm. */
  constructor(path: string, body?: Json) {
    this.path = path;
    this.body = body;
  }
}

/** Proves that the caller may do anything at all in the realm of the path. */
export async function authorizeInRealm(services: Services, request: FastifyRequest): Promise<void> {
  const caller = await authenticate(services, request);
  const { rights } = await openRealm(services, request, caller);
  if (!rights.any) throw forbidden();
}

async function openRealm(services: Services, request: FastifyRequest, caller: Caller) {
  const { realm } = request.params as { realm: string };
  const context = services.admin;
  const configuration = await context.store.findRealm(realm);
  if (configuration === undefined) throw notFound('Realm not found.');
  return { context, caller, configuration, rights: await findRights(context, caller, configuration) };
}

/** Proves the caller and reads the realm and the caller's rights in it, as they are now. @throws AdminRefusal */
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
    param: (name) => (request.params as Record<string, string>)[name] ?? '',
    query: readQuery(request),
  };
}

/** Answers what a row gave. */
export function answer(call: AdminCall, value: unknown): FastifyReply | Promise<FastifyReply> {
  const { reply, configuration, context } = call;
  if (value instanceof Created) {
    const realm = encodeURIComponent(configuration.realm.name);
    reply.code(201).header('location', `${context.baseUrl}/admin/realms/${realm}/${value.path}`);
    return value.body === undefined ? reply.send() : sendJson(reply, value.body);
  }
  if (value === undefined) return reply.code(204).send();
  if (value instanceof Pages) return sendPages(reply, value, call.services.log);
  return sendJson(reply, value);
}

/** Sends any JSON value, numbers too. */
export function sendJson(reply: FastifyReply, value: unknown): FastifyReply {
  if (!reply.hasHeader('content-type')) reply.header('content-type', 'application/json');
  if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'no-cache');
  return reply.send(JSON.stringify(value));
}
