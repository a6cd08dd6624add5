import { IdkitError } from '../../../core/index.ts';

/** A record as the administrative API returned it. Its fields are not checked. */
export type ApiRecord = Readonly<Record<string, unknown>>;

/** Checks that the body of a response is a list. @throws IDKIT_FAILED */
export function asRecords(body: unknown, what: string): readonly ApiRecord[] {
  if (Array.isArray(body)) return body as ApiRecord[];
  throw new IdkitError('IDKIT_FAILED', `the response of the service is not a list of ${what}`);
}

/** Builds a path below `/admin/realms` and encodes each segment. */
export function apiPath(...segments: readonly string[]): string {
  return segments.map((segment) => `/${encodeURIComponent(segment)}`).join('');
}
