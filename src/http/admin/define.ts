import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  badInput,
  type Caller,
  findRights,
  forbidden,
  type Json,
  notFound,
  type RealmCall,
  rolesTurn,
} from '../../admin/index.ts';
import { inTurn } from '../../core/index.ts';
import { userTurn } from '../../model/index.ts';
import type { Route, Services } from '../route.ts';
import { authenticate, originHeaders } from './authenticate.ts';

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

/** One row below `/admin/realms/{realm}`; `path` is a Fastify path. */
export function inRealm(method: Route['method'], path: string, handle: (call: AdminCall) => unknown): Route {
  return {
    method,
    url: `/admin/realms/:realm${path}`,
    authorize: (services, request) => authorizeInRealm(services, request),
    handle: async (services, request, reply) => {
      const work = async () => {
        const call = await openCall(services, request, reply);
        return answer(call, await handle(call));
      };
      const turn = method === 'GET' ? undefined : turnOf(path, request);
      return turn === undefined ? await work() : await inTurn(services.admin.store, turn, work);
    },
  };
}

/**
 * Changes of one record go one after the other, from the first read to the answer: most write the whole record, so
 * of two at once one would undo the other. What only makes a new record waits for nobody; undefined then.
 */
function turnOf(path: string, request: FastifyRequest): string | undefined {
  const { realm = '', ...ids } = request.params as Record<string, string>;
  const [, area = '', id = '', below = ''] = path.split('/');
  if (area === 'roles' || area === 'roles-by-id' || below === 'roles' || area === 'partialImport')
    return rolesTurn(realm);
  if (area === 'groups') return `groups of ${realm}`;
  if (area === '' || area === 'events') return `settings of ${realm}`;
  if (area === 'users' && id === ':id') return userTurn(realm, ids['id'] ?? '');
  return id.startsWith(':') ? `${area}/${ids[id.slice(1)]} of ${realm}` : undefined;
}

/** Proves that the caller may do anything at all in the realm of the path. */
async function authorizeInRealm(services: Services, request: FastifyRequest): Promise<void> {
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

async function openCall(
  services: Services,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<AdminCall> {
  const caller = await authenticate(services, request);
  reply.headers(originHeaders(request));
  const opened = await openRealm(services, request, caller);
  if (caller.realmName !== 'master' && caller.realmId !== opened.configuration.realm.id) throw forbidden();
  return {
    ...opened,
    services,
    request,
    reply,
    param: (name) => (request.params as Record<string, string>)[name] ?? '',
    query: readQuery(request),
  };
}

function answer(call: AdminCall, value: unknown): FastifyReply {
  const { reply, configuration, context } = call;
  if (value instanceof Created) {
    const realm = encodeURIComponent(configuration.realm.name);
    reply.code(201).header('location', `${context.baseUrl}/admin/realms/${realm}/${value.path}`);
    return value.body === undefined ? reply.send() : sendJson(reply, value.body);
  }
  if (value === undefined) return reply.code(204).send();
  return sendJson(reply, value);
}

/** Sends any JSON value, numbers too. */
export function sendJson(reply: FastifyReply, value: unknown): FastifyReply {
  if (!reply.hasHeader('content-type')) reply.header('content-type', 'application/json');
  return reply.header('cache-control', 'no-cache').send(JSON.stringify(value));
}

/** The parameters after `?`. */
export interface Query {
  text(name: string): string | undefined;
  all(name: string): readonly string[];
  flag(name: string): boolean | undefined;
  /** @throws AdminRefusal 404 for what is no number (facts §7.2); negative means no limit */
  number(name: string): number | undefined;
  /** `first` and `max` of a list. */
  page(usualMax: number): { first: number; max: number };
}

const EVERYTHING = 2_147_483_647;

/** Reads the parameters of a request. @throws AdminRefusal 400 for a NUL byte */
export function readQuery(request: FastifyRequest): Query {
  const start = request.url.indexOf('?');
  const given = new URLSearchParams(start < 0 ? '' : request.url.slice(start + 1));
  for (const [name, value] of given)
    if (name.includes('\0') || value.includes('\0'))
      throw badInput('invalid_request', `Parameter ${name.replaceAll('\0', '')} contains a NUL byte`);
  const number = (name: string): number | undefined => {
    const value = given.get(name);
    if (value === null || value === '') return undefined;
    if (!/^[+-]?\d{1,10}$/.test(value)) throw notFound();
    return Number(value);
  };
  const flag = (name: string): boolean | undefined => {
    const value = given.get(name);
    return value === null || value === '' ? undefined : value.toLowerCase() === 'true';
  };
  return {
    text: (name) => given.get(name) ?? undefined,
    all: (name) => given.getAll(name),
    flag,
    number,
    page(usualMax) {
      const first = number('first') ?? 0;
      const max = number('max') ?? usualMax;
      return { first: Math.max(0, first), max: max < 0 ? EVERYTHING : max };
    },
  };
}
