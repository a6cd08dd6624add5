import type { FastifyReply, FastifyRequest } from 'fastify';
import { isPasswordTooLong, MOST_PASSWORD_BYTES } from '../../model/index.ts';
import { type Answer, type ProtocolRequest, Refusal } from '../../protocol/index.ts';
import { corsHeaders } from '../responses/cors.ts';
import { pathParameter } from '../url-table/url-table.ts';

/**
 * Converts a request below `/realms/{realm}/` to the form that the endpoints of src/protocol accept.
 *
 * @throws Refusal `malformed-form`
 */
export function protocolRequest(request: FastifyRequest): ProtocolRequest {
  const form = parseForm(request.body, request.headers['content-type']);
  const { authorization, origin, accept, dpop } = request.headers;
  return {
    realm: realmOf(request),
    form: form.fields,
    duplicated: form.duplicated,
    ...(authorization === undefined ? {} : { authorization }),
    ...(origin === undefined ? {} : { origin }),
    ...(accept === undefined ? {} : { accept }),
    ...(dpop === undefined ? {} : { dpop: String(dpop) }),
    remoteAddress: request.ip,
    secure: request.protocol === 'https',
  };
}

/** Frees the memory of a body that is already parsed, because the request may have to wait for a password hash. */
export function releaseBody(request: FastifyRequest): void {
  request.body = undefined;
}

/** Returns `{realm}` of the path. */
export function realmOf(request: FastifyRequest): string {
  return pathParameter(request, 'realm');
}

/** Sends an answer of the protocol as JSON, with its CORS headers. */
export function sendAnswer(reply: FastifyReply, answer: Answer<unknown>): FastifyReply {
  if (answer.allowOrigin !== undefined) reply.headers(corsHeaders(answer.allowOrigin));
  return reply.send(answer.body);
}

/** Sends an answer of the protocol without a body. */
export function sendEmpty(reply: FastifyReply, status: number, answer: Answer<undefined>): FastifyReply {
  return reply.code(status).headers(corsHeaders(answer.allowOrigin)).send();
}

/** Adds the realm of the path to a refusal of `work`, because the header `WWW-Authenticate` names it. */
export function nameRealm<T>(request: FastifyRequest, work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    if (error instanceof Refusal && error.realm === undefined) error.realm = realmOf(request);
    throw error;
  });
}

interface Form {
  /** The first value of each field. */
  fields: ReadonlyMap<string, string>;
  /** Whether any field occurs twice. */
  duplicated: boolean;
}

const EMPTY: Form = { fields: new Map(), duplicated: false };
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Parses the form of a raw body. For any content type except `application/x-www-form-urlencoded`, returns an empty
 * form, as Keycloak does (docs/keycloak/errors.md#content-types).
 *
 * @throws Refusal `malformed-form` for a broken %-escape, bytes that are not UTF-8, or a NUL character
 */
export function parseForm(body: unknown, contentType: string | undefined): Form {
  if (!isForm(contentType)) return EMPTY;
  if (!Buffer.isBuffer(body) || body.length === 0) return EMPTY;
  const fields = new Map<string, string>();
  let duplicated = false;
  for (const [name, value] of listPairs(body.toString('latin1'))) {
    if (fields.has(name)) duplicated = true;
    else fields.set(name, value);
  }
  return { fields, duplicated };
}

/**
 * Returns every value of each field of a query or a form, in order.
 *
 * @param text the query without `?`, or the form, with one character for each byte
 * @throws Refusal `malformed-form` in the same cases as `parseForm`
 */
export function parseFields(text: string): ReadonlyMap<string, readonly string[]> {
  const fields = new Map<string, string[]>();
  for (const [name, value] of listPairs(text)) {
    const values = fields.get(name);
    if (values === undefined) fields.set(name, [value]);
    else values.push(value);
  }
  return fields;
}

/**
 * Whether a content type is `application/x-www-form-urlencoded`. The comparison is case-sensitive, and parameters are
 * ignored.
 */
export function isForm(contentType: string | undefined): boolean {
  return contentType?.split(';', 1)[0]?.trim() === 'application/x-www-form-urlencoded';
}

/** Maximum size in bytes of a field of a form, as in Keycloak's `http.limits`. */
const MAX_FIELD_BYTES = 128 * 1024;
/** Maximum number of fields of a form, as in Keycloak's `http.limits`. */
const MAX_FIELDS = 1000;

/** Yields the decoded names and values of a form. A name without `=` has an empty value. */
function* listPairs(text: string): Generator<readonly [name: string, value: string]> {
  let count = 0;
  for (const pair of text.split('&')) {
    if (pair === '') continue;
    if (++count > MAX_FIELDS) throw tooLarge(`more than ${MAX_FIELDS} fields`);
    if (pair.length > MAX_FIELD_BYTES) throw tooLarge(`a field of more than ${MAX_FIELD_BYTES} bytes`);
    const equals = pair.indexOf('=');
    if (equals < 0) {
      yield [decodeFormText(pair), ''];
      continue;
    }
    const name = decodeFormText(pair.slice(0, equals));
    const value = decodeFormText(pair.slice(equals + 1));
    yield [name, PASSWORDS.has(name) ? shortPassword(value) : value];
  }
}

const PASSWORDS: ReadonlySet<string> = new Set(['password', 'password-new', 'password-confirm']);

/**
 * Truncates a password that is too long, because it may wait in memory for its check. The result is still too long, so
 * the check rejects it.
 */
function shortPassword(value: string): string {
  if (!isPasswordTooLong(value)) return value;
  // A slice would keep the whole text in memory, so its characters are copied.
  return Buffer.from(value.slice(0, MOST_PASSWORD_BYTES + 1)).toString();
}

/** Decodes a name or value of a form, strictly (WHATWG URL §5.1). `text` has one character for each byte. */
function decodeFormText(text: string): string {
  if (!/[%+\x00\x80-\xff]/.test(text)) return text;
  const bytes = Buffer.allocUnsafe(text.length);
  let length = 0;
  for (let at = 0; at < text.length; at++) {
    let byte = text.charCodeAt(at);
    if (byte === 0x2b) byte = 0x20;
    else if (byte === 0x25) {
      const hex = text.slice(at + 1, at + 3);
      if (!/^[0-9a-fA-F]{2}$/.test(hex)) throw malformed('a broken %-escape');
      byte = Number.parseInt(hex, 16);
      at += 2;
    }
    if (byte === 0) throw malformed('a NUL character');
    bytes[length++] = byte;
  }
  try {
    return utf8.decode(bytes.subarray(0, length));
  } catch {
    throw malformed('text that is not UTF-8');
  }
}

function tooLarge(what: string): Refusal {
  return new Refusal('form-too-large', { description: `The form contains ${what}` });
}

function malformed(what: string): Refusal {
  return new Refusal('malformed-form', { description: `The form contains ${what}` });
}
