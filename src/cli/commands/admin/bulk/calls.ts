import { setTimeout as pause } from 'node:timers/promises';
import type { AdminClient, ServiceResponse } from '../../../../client/index.ts';
import { IdkitError } from '../../../../core/index.ts';
import { type ApiRecord, apiPath, asRecords, isSegment } from '../lookup.ts';
import { responseFault } from '../response-fault.ts';

/** The failure of one record. The other records of the file are not affected. */
export class LineFault extends Error {
  override readonly name = 'LineFault';
}

/** Calls of the administrative API for the records of a file. */
export interface BulkCalls {
  readonly realm: string;
  /**
   * Sends a request below the realm and returns the parsed body. Repeats a request that the service put off.
   *
   * @param path with a leading slash; its segments must be encoded
   * @throws LineFault if the service rejected the request; IDKIT_CREDENTIALS or IDKIT_UNREACHABLE if no record can
   *   succeed
   */
  send(method: string, path: string, body?: unknown): Promise<unknown>;
  /** Works like `send`, but returns undefined if the service responds with 404. */
  find(path: string): Promise<unknown>;
  /** Returns the user that a record names by `id` or `username`, or undefined if there is none. */
  findUser(fields: Readonly<Record<string, unknown>>): Promise<ApiRecord | undefined>;
}

/** Number of requests for one call that the service puts off with 429 or 503. */
const TRIES = 6;
/** Longest pause in milliseconds before the next request. */
const LONGEST_PAUSE = 30_000;

export function openBulkCalls(admin: AdminClient, realm: string, signal: AbortSignal): BulkCalls {
  const request = async (method: string, path: string, body?: unknown): Promise<ServiceResponse> => {
    for (let tried = 1; ; tried++) {
      const response = await admin.request({
        method,
        path: `/admin/realms${apiPath(realm)}${path}`,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const isPutOff = response.status === 429 || response.status === 503;
      if (!isPutOff || tried === TRIES) return await check(response, method);
      await pause(pauseBefore(tried, response), undefined, { signal }).catch((error) => {
        throw signal.aborted ? signal.reason : error;
      });
    }
  };
  const calls: BulkCalls = {
    realm,
    async send(method, path, body) {
      const response = await request(method, path, body);
      if (response.status >= 300) throw await rejected(response);
      return bodyOf(response);
    },
    async find(path) {
      const response = await request('GET', path);
      if (response.status === 404) return undefined;
      if (response.status >= 300) throw await rejected(response);
      return bodyOf(response);
    },
    async findUser({ id, username }) {
      if (typeof id === 'string') {
        if (!isSegment(id)) return undefined;
        return (await calls.find(apiPath('users', id))) as ApiRecord | undefined;
      }
      if (typeof username !== 'string') throw new LineFault('the line has neither a username nor an id');
      const query = new URLSearchParams({ username, exact: 'true' });
      const found = asRecords(await calls.send('GET', `/users?${query}`), 'users');
      return found.find((user) => String(user['username']).toLowerCase() === username.toLowerCase());
    },
  };
  return calls;
}

/** Throws if no further request can succeed, because the session has ended or the service is unavailable. */
async function check(response: ServiceResponse, method: string): Promise<ServiceResponse> {
  const fault = await responseFault(response, `${method} ${response.url}`);
  const isFatal = response.status === 401 || fault?.code === 'IDKIT_UNREACHABLE';
  if (fault !== undefined && isFatal) throw fault;
  return response;
}

async function rejected({ status, text }: ServiceResponse): Promise<LineFault> {
  const { describeRefusal } = await import('../../../../client/index.ts');
  return new LineFault(`${describeRefusal(text)} (${status})`);
}

/** Returns the pause in milliseconds that the service demands, or twice the previous pause. */
function pauseBefore(tried: number, { headers }: ServiceResponse): number {
  const seconds = Number(headers.get('retry-after') ?? Number.NaN);
  return Math.min(LONGEST_PAUSE, Number.isFinite(seconds) ? Math.max(seconds, 0.1) * 1000 : 250 * 2 ** tried);
}

function bodyOf(response: ServiceResponse): unknown {
  if (response.text === '') return undefined;
  try {
    return JSON.parse(response.text);
  } catch (error) {
    throw new IdkitError('IDKIT_FAILED', `${response.url} returned a body that is not JSON`, {
      cause: error,
    });
  }
}
