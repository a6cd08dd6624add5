import type { ServiceResponse } from '../../../client/index.ts';
import {
  type ErrorCode,
  IdkitError,
  type JsonObject,
  jsonFields,
  parseJsonObject,
} from '../../../core/index.ts';

/** The code for each status of the administrative API. Every other status from 300 on is IDKIT_FAILED. */
const CODES: Readonly<Record<number, ErrorCode>> = {
  400: 'IDKIT_USAGE',
  401: 'IDKIT_CREDENTIALS',
  403: 'IDKIT_CREDENTIALS',
  404: 'IDKIT_NOT_FOUND',
  405: 'IDKIT_USAGE',
  413: 'IDKIT_USAGE',
  415: 'IDKIT_USAGE',
  429: 'IDKIT_UNREACHABLE',
  502: 'IDKIT_UNREACHABLE',
  503: 'IDKIT_UNREACHABLE',
  504: 'IDKIT_UNREACHABLE',
};

/** Returns the error of a response, with the text of the service. Returns undefined if the request succeeded. */
export function responseFault(response: ServiceResponse, request: string): IdkitError | undefined {
  const { status } = response;
  if (status < 300) return undefined;
  return new IdkitError(
    CODES[status] ?? 'IDKIT_FAILED',
    `${request} failed with status ${status}: ${faultText(response)}`,
  );
}

/**
 * Returns the service's text of an error, in any of the shapes of Keycloak 26 (docs/keycloak/errors.md#error-shapes). An
 * error of a field begins with the name of the field.
 */
export function faultText({ text }: ServiceResponse): string {
  const fields = parseJsonObject(text) ?? {};
  const errors = Array.isArray(fields['errors']) ? fields['errors'].map(jsonFields) : [fields];
  const texts = errors.map(fieldText).filter((each) => each !== undefined);
  return texts.length > 0 ? texts.join('; ') : text.slice(0, 200) || 'the response is empty';
}

function fieldText(fields: JsonObject): string | undefined {
  const found = [fields['errorMessage'], fields['error_description'], fields['error']].find(
    (value) => typeof value === 'string',
  );
  const { field } = fields;
  return typeof field === 'string' && found !== undefined ? `${field}: ${found}` : found;
}
