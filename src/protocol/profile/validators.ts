import type { PatternCheck, PatternMatches } from '../../crypto/index.ts';
import type { ProfileAttribute } from './user-profile.ts';

type Fault = { key: string; values?: Readonly<Record<string, string>> };
type Config = Readonly<Record<string, unknown>>;

/**
 * The validators of a user profile that idkit runs, by name. Username, e-mail and names have additional rules
 * (`listProfileFaults`).
 */
type Validator = (value: string, config: Config, matches: PatternMatches) => Fault | undefined;
const VALIDATORS: Readonly<Record<string, Validator>> = {
  length: (value, config) => {
    const [min, max] = [numberOf(config['min']), numberOf(config['max'])];
    const length = [...value].length;
    if (min !== undefined && length < min)
      return { key: 'error-invalid-length-too-short', values: { min: `${min}` } };
    if (max !== undefined && length > max)
      return { key: 'error-invalid-length-too-long', values: { max: `${max}` } };
    return undefined;
  },
  pattern: (value, config, matches) =>
    typeof config['pattern'] === 'string' && !matches(config['pattern'], value)
      ? { key: 'error-pattern-no-match' }
      : undefined,
  options: (value, config) =>
    Array.isArray(config['options']) && !config['options'].includes(value)
      ? { key: 'error-invalid-value' }
      : undefined,
  integer: (value, config) => numberFault(/^[+-]?\d{1,18}$/, value, config),
  double: (value, config) => numberFault(/^[+-]?\d{1,300}(?:\.\d{1,300})?$/, value, config),
  uri: (value) => (URL.canParse(value) && /^https?:/i.test(value) ? undefined : { key: 'error-invalid-uri' }),
  // Rejects names with letters of other scripts, which can look like Latin ones: раураl is not paypal (Keycloak:
  // `Validation.isUsernameValid`).
  'up-username-not-idn-homograph': (value) =>
    /^[\p{Script=Latin}\p{Script=Common}]+$/u.test(value)
      ? undefined
      : { key: 'error-username-invalid-character' },
  'iso-date': (value) => (isDate(value) ? undefined : { key: 'error-invalid-date' }),
};

/** Maximum length of a value in characters. */
const MOST_CHARACTERS = 2048;

/**
 * Returns the check of the pattern that a value has to match, if there is one. A value above the maximum length is not
 * checked, because it is invalid anyway.
 */
export function listPatternChecks({ validations }: ProfileAttribute, text: string): readonly PatternCheck[] {
  const pattern = validations['pattern']?.['pattern'];
  return typeof pattern === 'string' && text.length <= MOST_CHARACTERS ? [{ pattern, text }] : [];
}

/**
 * Returns the first rule of the profile that a value violates, or undefined.
 *
 * @param matches the results for the patterns of `listPatternChecks`
 */
export function findAttributeFault(
  { validations }: ProfileAttribute,
  value: string,
  matches: PatternMatches,
): Fault | undefined {
  for (const [name, config] of Object.entries(validations)) {
    const validate = Object.hasOwn(VALIDATORS, name) ? VALIDATORS[name] : undefined;
    const fault = validate?.(value, config, matches);
    if (fault !== undefined) return fault;
  }
  return value.length > MOST_CHARACTERS
    ? { key: 'error-invalid-length-too-long', values: { max: `${MOST_CHARACTERS}` } }
    : undefined;
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
