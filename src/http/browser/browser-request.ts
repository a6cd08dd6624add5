import type { FastifyRequest } from 'fastify';
import type { BrowserRequest } from '../../browser/index.ts';
import { isForm, parseFields, realmOf, releaseBody } from '../request/realm-request.ts';
import { parseCookies } from './cookies.ts';

/** Maximum length of `User-Agent` in characters. The rest is dropped. */
const AGENT_LENGTH = 255;

type Values = ReadonlyMap<string, readonly string[]>;
const NONE: Values = new Map();

/**
 * Converts a browser's request below `/realms/{realm}/` to the form that src/browser accepts.
 *
 * @throws Refusal `malformed-form` for a malformed query or form
 */
export function browserRequest(request: FastifyRequest): BrowserRequest {
  const query = parseFields(queryOf(request));
  const form = request.method === 'POST' ? formOf(request) : NONE;
  const { cookie, origin } = request.headers;
  const fetchSite = request.headers['sec-fetch-site'];
  const acceptLanguage = request.headers['accept-language'];
  const userAgent = request.headers['user-agent']?.slice(0, AGENT_LENGTH);
  return {
    realm: realmOf(request),
    method: request.method === 'POST' ? 'POST' : 'GET',
    query: firstOf(query),
    form: firstOf(form),
    doubled: doubledOf(query, form),
    cookies: parseCookies(cookie),
    ...(origin === undefined ? {} : { origin }),
    ...(typeof fetchSite === 'string' ? { fetchSite } : {}),
    ...(acceptLanguage === undefined ? {} : { acceptLanguage }),
    ...(userAgent === undefined ? {} : { userAgent }),
    remoteAddress: request.ip,
    secure: request.protocol === 'https',
  };
}

function queryOf(request: FastifyRequest): string {
  const url = request.raw.url ?? '';
  const start = url.indexOf('?');
  return start < 0 ? '' : url.slice(start + 1);
}

function formOf(request: FastifyRequest): Values {
  const { body, headers } = request;
  if (!isForm(headers['content-type']) || !Buffer.isBuffer(body)) return NONE;
  const fields = parseFields(body.toString('latin1'));
  releaseBody(request);
  return fields;
}

function firstOf(fields: Values): ReadonlyMap<string, string> {
  return new Map([...fields].map(([name, values]) => [name, values[0] ?? '']));
}

function doubledOf(...parts: readonly Values[]): Values {
  const doubled = new Map<string, readonly string[]>();
  for (const [name, values] of parts.flatMap((part) => [...part]))
    if (values.length > 1) doubled.set(name, values);
  return doubled;
}
