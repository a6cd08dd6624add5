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

const bodies = new WeakMap<FastifyRequest, { value: unknown }>();

/**
 * Returns the value of a JSON body, which is parsed once per request.
 *
 * @throws AdminRefusal 415 for another content type, 400 for broken JSON
 */
export function readJson(request: FastifyRequest): unknown {
  const type = request.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (type !== 'application/json' && !/^application\/[\w.+-]+\+json$/.test(type))
    throw new AdminRefusal('unsupported-media', {
      error: 'The content-type header value did not match the value in @Consumes',
    });
  let cached = bodies.get(request);
  if (cached === undefined) {
    try {
      cached = { value: JSON.parse(readText(request)) };
    } catch {
      throw badInput('invalid_request', 'Cannot parse the JSON');
    }
    bodies.set(request, cached);
  }
  return cached.value;
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
  const before = text.slice(0, Math.max(0, text.indexOf(name)) + name.length);
  const column = before.length - before.lastIndexOf('\n');
  return `line ${before.split('\n').length} column ${column}`;
}
