import { isJsonObject, parseJsonObject } from '../../core/index.ts';

/** What the keys of user profile errors say about a field. The numbers are the parameters of the error. */
const FIELD_TEXTS: Readonly<Record<string, (numbers: readonly number[]) => string>> = {
  'error-invalid-blank': () => 'must not be blank',
  'error-empty': () => 'must not be empty',
  'error-invalid-date': () => 'must be a date',
  'error-invalid-email': () => 'must be an email address',
  'error-invalid-length': (numbers) =>
    `must have ${Math.min(...numbers)} to ${Math.max(...numbers)} characters`,
  'error-invalid-length-too-long': (numbers) => `must have at most ${Math.max(...numbers)} characters`,
  'error-invalid-length-too-short': (numbers) => `must have at least ${Math.max(...numbers)} characters`,
  'error-invalid-number': () => 'must be a number',
  'error-invalid-uri': () => 'must be a URL',
  'error-invalid-value': () => 'has an invalid value',
  'error-number-out-of-range': (numbers) =>
    `must be a number from ${Math.min(...numbers)} to ${Math.max(...numbers)}`,
  'error-pattern-no-match': () => 'does not match the required pattern',
  'error-person-name-invalid-character': () => 'contains a character that is not allowed in names',
  'error-user-attribute-read-only': () => 'cannot be changed',
  'error-user-attribute-required': () => 'is required',
  'error-username-invalid-character': () => 'contains a character that is not allowed in usernames',
};

/**
 * Returns the reason of a rejection in words, with the fields that it names. Reads each of the error shapes of Keycloak
 * 26 (docs/keycloak/errors.md#error-shapes).
 *
 * @param text the body of the response
 */
export function describeRefusal(text: string): string {
  const body = parseJsonObject(text) ?? {};
  const faults = Array.isArray(body['errors']) ? body['errors'].filter(isJsonObject) : [];
  if (faults.length > 0) return faults.map(describeFault).join('; ');
  if (typeof body['errorMessage'] === 'string') return describeFault(body);
  const reason = body['error_description'] ?? body['error'];
  return typeof reason === 'string' ? reason : text.slice(0, 200) || 'the response is empty';
}

function describeFault({ field, errorMessage, params }: Readonly<Record<string, unknown>>): string {
  const message = String(errorMessage);
  if (typeof field !== 'string') return message;
  const values = Array.isArray(params) ? params : [];
  const numbers = values.map((value) => Number.parseInt(String(value), 10)).filter(Number.isInteger);
  const known = FIELD_TEXTS[message];
  const needsNumbers = known?.length === 1;
  return known === undefined || (needsNumbers && numbers.length === 0)
    ? `${field}: ${message}`
    : `${field} ${known(numbers)}`;
}
