import type { FastifyRequest } from 'fastify';
import {
  AdminRefusal,
  badInput,
  checkRepresentation,
  checkRepresentations,
  type Json,
  RepresentationFault,
  type RepresentationName,
} from '../../admin/index.ts';
import { parseJsonInSlices } from '../../core/index.ts';

/** Returns the body as text. @throws AdminRefusal 400 for a body that is not UTF-8 */
export function readText(request: FastifyRequest): string {
  const body = request.body;
  if (!Buffer.isBuffer(body)) return '';
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    throw badInput('invalid_request', 'Cannot parse the JSON');
  }
}

/** The parsed bodies. Undefined for a body that is not JSON. */
const bodies = new WeakMap<FastifyRequest, { value: unknown } | undefined>();

/** A body with more bytes is parsed in slices. Parsing so many takes a few milliseconds. */
const BYTES_AT_ONCE = 128 * 1024;

/**
 * Parses the large body of an authorized caller in slices, so that other work runs in between. `readJson` then returns
 * its value.
 */
export async function parseLargeBody(request: FastifyRequest): Promise<void> {
  const { body } = request;
  if (!Buffer.isBuffer(body) || body.length <= BYTES_AT_ONCE || bodies.has(request) || !hasJsonType(request))
    return;
  const value = await parseJsonInSlices(body).then(
    (parsed) => ({ value: parsed }),
    () => undefined,
  );
  bodies.set(request, value);
}

/**
 * Returns the value of a JSON body, which is parsed once per request.
 *
 * @throws AdminRefusal 415 for another content type, 400 for broken JSON
 */
export function readJson(request: FastifyRequest): unknown {
  if (!hasJsonType(request))
    throw new AdminRefusal('unsupported-media', {
      error: 'The content-type header value did not match the value in @Consumes',
    });
  if (!bodies.has(request)) bodies.set(request, parse(request));
  const parsed = bodies.get(request);
  if (parsed === undefined) throw badInput('invalid_request', 'Cannot parse the JSON');
  return parsed.value;
}

function hasJsonType(request: FastifyRequest): boolean {
  const type = request.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return type === 'application/json' || /^application\/[\w.+-]+\+json$/.test(type);
}

function parse(request: FastifyRequest): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(readText(request)) };
  } catch {
    return undefined;
  }
}

/** Returns the body as a representation. @throws AdminRefusal with the name of the invalid field */
export function readRepresentation(request: FastifyRequest, name: RepresentationName): Json {
  return refuseFaults(request, () => checkRepresentation(name, readJson(request)));
}

/** Returns the body as a list of representations. @throws AdminRefusal with the name of the invalid field */
export function readRepresentations(request: FastifyRequest, name: RepresentationName): readonly Json[] {
  return refuseFaults(request, () => checkRepresentations(name, readJson(request)));
}

function refuseFaults<T>(request: FastifyRequest, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof RepresentationFault)) throw error;
    if (error.unknown === undefined)
      throw badInput('unknown_error', `Cannot parse the JSON: ${error.message}`);
    const { field, representation } = error.unknown;
    const place = placeOf(readText(request), field);
    const shown = field.toWellFormed().slice(0, 100);
    throw badInput(
      `Invalid json representation for ${representation}. Unrecognized field "${shown}" at ${place}.`,
    );
  }
}

/** Returns the position after the first occurrence of a field's name, for example `line 1 column 20`. */
function placeOf(text: string, field: string): string {
  const name = JSON.stringify(field);
  const end = Math.max(0, text.indexOf(name)) + name.length;
  let line = 1;
  let lineStart = 0;
  for (let next = text.indexOf('\n'); next !== -1 && next < end; next = text.indexOf('\n', lineStart)) {
    line++;
    lineStart = next + 1;
  }
  return `line ${line} column ${end - lineStart + 1}`;
}
