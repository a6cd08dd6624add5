import type { FastifyRequest } from 'fastify';
import { badInput, notFound } from '../../admin/index.ts';

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
