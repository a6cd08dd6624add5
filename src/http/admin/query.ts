import type { FastifyRequest } from 'fastify';
import { badInput, notFound } from '../../admin/index.ts';

export interface Query {
  text(name: string): string | undefined;
  all(name: string): readonly string[];
  flag(name: string): boolean | undefined;
  /**
   * Returns the number in a parameter, or undefined if it is missing or empty. A negative number means no limit.
   *
   * @throws AdminRefusal 404 for a text that is not a number, as in Keycloak
   */
  number(name: string): number | undefined;
  /** Returns `first` and `max` of a list. `defaultMax` applies if the query has no `max`. */
  page(defaultMax: number): { first: number; max: number };
}

const NO_LIMIT = 2_147_483_647;

/** Reads the parameters of a request. @throws AdminRefusal 400 for a NUL byte */
export function readQuery(request: FastifyRequest): Query {
  const start = request.url.indexOf('?');
  const parameters = new URLSearchParams(start < 0 ? '' : request.url.slice(start + 1));
  for (const [name, value] of parameters)
    if (name.includes('\0') || value.includes('\0'))
      throw badInput('invalid_request', `Parameter ${name.replaceAll('\0', '')} contains a NUL byte`);
  const number = (name: string): number | undefined => {
    const value = parameters.get(name);
    if (value === null || value === '') return undefined;
    if (!/^[+-]?\d{1,10}$/.test(value)) throw notFound();
    return Number(value);
  };
  const flag = (name: string): boolean | undefined => {
    const value = parameters.get(name);
    return value === null || value === '' ? undefined : value.toLowerCase() === 'true';
  };
  return {
    text: (name) => parameters.get(name) ?? undefined,
    all: (name) => parameters.getAll(name),
    flag,
    number,
    page(defaultMax) {
      const first = number('first') ?? 0;
      const max = number('max') ?? defaultMax;
      return { first: Math.max(0, first), max: max < 0 ? NO_LIMIT : max };
    },
  };
}

/** Returns those parameters in `names` that are not empty. The keys of the result are the keys of `names`. */
export function texts<K extends string>(
  query: Query,
  names: Readonly<Record<K, string>>,
): Partial<Record<K, string>> {
  const values: Partial<Record<K, string>> = {};
  for (const name in names) {
    const value = query.text(names[name]);
    if (value) values[name] = value;
  }
  return values;
}
