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

/** The body as text, refused where it is not UTF-8. */
export function readText(request: FastifyRequest): string {
  const body = request.body;
  if (!Buffer.isBuffer(body)) return '';
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    throw badInput('invalid_request', 'Cannot parse the JSON');
  }
}

const parsed = new WeakMap<FastifyRequest, { value: unknown }>();

/** The value of a JSON body, parsed once per request. @throws AdminRefusal 415 for another type, 400 for broken JSON (facts §1) */
export function readJson(request: FastifyRequest): unknown {
  const type = request.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (type !== 'application/json' && !/^application\/[\w.+-]+\+json$/.test(type))
    throw new AdminRefusal('unsupported-media', {
      error: 'The content-type header value did not match the value in @Consumes',
    });
  let found = parsed.get(request);
  if (found === undefined) {
    try {
      found = { value: JSON.parse(readText(request)) };
    } catch {
      throw badInput('invalid_request', 'Cannot parse the JSON');
    }
    parsed.set(request, found);
  }
  return found.value;
}

/** The body as a representation. @throws AdminRefusal that names the field */
export function readRepresentation(request: FastifyRequest, name: RepresentationName): Json {
  return refuseFaults(request, () => checkRepresentation(name, readJson(request)));
}

/** The body as a list of representations. @throws AdminRefusal that names the field */
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

/** `line 1 column 20`: the end of the field's first mention. */
function placeOf(text: string, field: string): string {
  const name = JSON.stringify(field);
  const before = text.slice(0, Math.max(0, text.indexOf(name)) + name.length);
  const lines = before.split('\n');
  return `line ${lines.length} column ${lines.at(-1)!.length + 1}`;
}
