import { matchesPattern } from '../crypto/index.ts';
import type { ProfileAttribute } from './user-profile.ts';

type Fault = { key: string; values?: Readonly<Record<string, string>> };
type Config = Readonly<Record<string, unknown>>;

/** Validators of a user profile that have a rule here (facts §10, "User profile"); the usual fields have their own. */
const VALIDATORS: Readonly<Record<string, (value: string, config: Config) => Fault | undefined>> = {
  length: (value, config) => {
    const [min, max] = [numberOf(config['min']), numberOf(config['max'])];
    const length = [...value].length;
    if (min !== undefined && length < min)
      return { key: 'error-invalid-length-too-short', values: { min: `${min}` } };
    if (max !== undefined && length > max)
      return { key: 'error-invalid-length-too-long', values: { max: `${max}` } };
    return undefined;
  },
  pattern: (value, config) =>
    typeof config['pattern'] === 'string' && !matchesPattern(config['pattern'], value)
      ? { key: 'error-pattern-no-match' }
      : undefined,
  options: (value, config) =>
    Array.isArray(config['options']) && !config['options'].includes(value)
      ? { key: 'error-invalid-value' }
      : undefined,
  integer: (value, config) => numberFault(/^[+-]?\d{1,18}$/, value, config),
  double: (value, config) => numberFault(/^[+-]?\d{1,300}(?:\.\d{1,300})?$/, value, config),
  uri: (value) => (URL.canParse(value) && /^https?:/i.test(value) ? undefined : { key: 'error-invalid-uri' }),
  'iso-date': (value) => (isDate(value) ? undefined : { key: 'error-invalid-date' }),
};

/** The first rule of the profile that a value does not meet. */
export function findAttributeFault({ validations }: ProfileAttribute, value: string): Fault | undefined {
  for (const [name, config] of Object.entries(validations)) {
    const validate = Object.hasOwn(VALIDATORS, name) ? VALIDATORS[name] : undefined;
    const fault = validate?.(value, config);
    if (fault !== undefined) return fault;
  }
  return value.length > 2048 ? { key: 'error-invalid-length-too-long', values: { max: '2048' } } : undefined;
}

function numberFault(shape: RegExp, value: string, config: Config): Fault | undefined {
  if (!shape.test(value)) return { key: 'error-invalid-number' };
  const [min, max] = [numberOf(config['min']), numberOf(config['max'])];
  const number = Number(value);
  const outside = (min !== undefined && number < min) || (max !== undefined && number > max);
  if (!outside) return undefined;
  return { key: 'error-number-out-of-range', values: { min: `${min ?? ''}`, max: `${max ?? ''}` } };
}

function isDate(value: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(value)) return false;
  const date = new Date(`${value}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(value);
}

function numberOf(value: unknown): number | undefined {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}
