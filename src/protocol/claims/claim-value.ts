import { type JsonObject, parseJsonObject } from '../../core/index.ts';
import type { ProtocolMapper } from '../../model/index.ts';

/**
 * Converts a mapper's value to the type that its configuration names (`jsonType.label`). Returns undefined if there is
 * no value, or if the value does not fit the type. The token then lacks the claim, but the login still succeeds.
 */
export function claimValue(mapper: ProtocolMapper, value: unknown): unknown {
  const type = mapper.config['jsonType.label'];
  if (!Array.isArray(value)) return typed(type, value);
  if (value.length === 0) return undefined;
  if (mapper.config.multivalued !== 'true') return typed(type, value[0]);
  return value.map((item) => typed(type, item)).filter((item) => item !== undefined);
}

function typed(type: string | undefined, value: unknown): unknown {
  if (value === undefined || value === null) return undefined;
  switch (type) {
    case 'String':
      return String(value);
    case 'boolean':
      return typeof value === 'boolean' ? value : String(value).toLowerCase() === 'true';
    case 'int':
    case 'long':
      return integer(value);
    case 'JSON':
      return typeof value === 'string' ? json(value) : value;
    default:
      return value;
  }
}

function integer(value: unknown): number | undefined {
  const text = String(value).trim();
  const number = /^[+-]?\d+$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(number) ? number : undefined;
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Parses JSON text as an object. Returns an empty object for anything else. */
export function parseObject(text: string | undefined): JsonObject {
  return parseJsonObject(text ?? '{}') ?? {};
}
