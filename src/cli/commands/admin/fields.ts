import { IdkitError, isJsonObject } from '../../../core/index.ts';

/** A field of a request body. `name` is a path such as `name`, `redirectUris[]` or `attributes[city][]`. */
export interface Field {
  name: string;
  value: unknown;
}

/**
 * Builds a JSON object from fields. `a[b]` is the member `b` of the object `a`, and `a[]` adds an entry to the list `a`.
 *
 * @throws IDKIT_USAGE for a broken path, or if two fields contradict each other
 */
export function buildFields(fields: readonly Field[]): Record<string, unknown> {
  const root: Record<string, unknown> = {};
  for (const { name, value } of fields) put(root, parsePath(name), value, name);
  return root;
}

/** Returns the fields as a query, without the question mark. Lists repeat their name. */
export function queryOf(fields: readonly Field[]): string {
  const query = new URLSearchParams();
  for (const { name, value } of fields) query.append(name.replace(/\[\]$/, ''), String(value));
  return query.toString();
}

/** Splits `a[b][]` into `a`, `b` and an empty step, which stands for a new entry of a list. */
function parsePath(name: string): readonly string[] {
  const match = /^([^[\]]+)((?:\[[^[\]]*\])*)$/.exec(name);
  const steps = [...(match?.[2] ?? '').matchAll(/\[([^[\]]*)\]/g)].map(([, step = '']) => step);
  const isBroken = match === null || steps.slice(0, -1).includes('');
  if (isBroken || [match[1], ...steps].includes('__proto__'))
    throw new IdkitError('IDKIT_USAGE', `${name} is not the name of a field`, {
      hints: ['examples of names: name, redirectUris[], attributes[city][]'],
    });
  return [match[1]!, ...steps];
}

function put(
  target: Record<string, unknown>,
  [step = '', ...rest]: readonly string[],
  value: unknown,
  name: string,
): void {
  const contradiction = (): IdkitError =>
    new IdkitError('IDKIT_USAGE', `the field ${name} contradicts another field`);
  const existing = Object.hasOwn(target, step) ? target[step] : undefined;
  if (rest.length === 0) {
    if (existing !== undefined) throw contradiction();
    target[step] = value;
  } else if (rest[0] === '') {
    if (existing !== undefined && !Array.isArray(existing)) throw contradiction();
    target[step] = [...(existing ?? []), value];
  } else {
    if (existing !== undefined && !isJsonObject(existing)) throw contradiction();
    const inner = (existing ?? {}) as Record<string, unknown>;
    target[step] = inner;
    put(inner, rest, value, name);
  }
}
