/**
 * English texts for the keys of Keycloak's message files that the administrative API returns for a field. `{1}` is the
 * first parameter after the name of the field.
 */
const TEXTS: Readonly<Record<string, string>> = {
  'error-user-attribute-required': 'A value is required',
  'error-user-attribute-read-only': 'This field cannot be changed',
  'error-invalid-value': 'This value is not allowed',
  'error-empty': 'A value is required',
  'error-invalid-length': 'The length must be between {1} and {2}',
  'error-invalid-length-too-short': 'The value needs at least {1} characters',
  'error-invalid-length-too-long': 'The value can have at most {2} characters',
  'error-invalid-email': 'This is not an e-mail address',
  'error-username-invalid-character': 'The username contains a character that is not allowed',
  'error-person-name-invalid-character': 'The name contains a character that is not allowed',
  'error-invalid-uri': 'This is not a URL that begins with http:// or https://',
  'error-invalid-date': 'This is not a date',
  'error-invalid-number': 'This is not a number',
  'error-number-out-of-range': 'The number must be between {1} and {2}',
  'error-pattern-no-match': 'The value does not have the required form',
};

/** Returns the text for a message, which is a key of Keycloak's message files or a text already. */
export function renderFault(message: string, params: readonly unknown[]): string {
  const text = TEXTS[message];
  if (text === undefined) return message;
  // Keycloak gives the bounds of a length as maximum and minimum or the other way round.
  const bounds = params
    .slice(1)
    .map(Number)
    .toSorted((one, other) => one - other);
  const numbers = bounds.every(Number.isFinite) ? bounds : params.slice(1);
  return text.replace(/\{(\d)\}/g, (_all, place: string) => String(numbers[Number(place) - 1] ?? ''));
}
