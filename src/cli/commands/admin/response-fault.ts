import type { ServiceResponse } from '../../../client/index.ts';
import { type ErrorCode, IdkitError } from '../../../core/index.ts';

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
export async function responseFault(
  response: ServiceResponse,
  request: string,
): Promise<IdkitError | undefined> {
  const { status, text } = response;
  if (status < 300) return undefined;
  const { describeRefusal } = await import('../../../client/index.ts');
  return new IdkitError(
    CODES[status] ?? 'IDKIT_FAILED',
    `${request} failed with status ${status}: ${describeRefusal(text)}`,
  );
}
