import type { SettingName } from './table.ts';

const port = (value: unknown): boolean =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 65_535;
const matches =
  (pattern: RegExp) =>
  (value: unknown): boolean =>
    typeof value === 'string' && pattern.test(value);

/**
 * Values that are right beyond doubt, as most starts of `serve` have them, so that zod need not be loaded. What is
 * not plain goes to the schema, which accepts every value that is accepted here.
 */
export const PLAIN_VALUES: Partial<Record<SettingName, (value: unknown) => boolean>> = {
  // A name whose last label begins with a letter: one that ends in a number is an IPv4 address, right or wrong (WHATWG).
  baseUrl: matches(/^https?:\/\/(127\.0\.0\.1|([a-z0-9]+[.-])*[a-z]+)(:\d{1,4})?$/),
  'listen.host': matches(/^[A-Za-z0-9.:-]{1,253}$/),
  'listen.port': port,
  'listen.managementPort': port,
  'listen.managementHost': matches(/^[A-Za-z0-9.:-]{1,253}$/),
  database: matches(/^sqlite:[\w./-]+$/),
  IDKIT_ADMIN_USERNAME: matches(/^[A-Za-z0-9][A-Za-z0-9._@+-]{0,254}$/),
};
