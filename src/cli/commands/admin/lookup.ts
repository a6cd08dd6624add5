import { IdkitError } from '../../../core/index.ts';

/** A record as the administrative API returned it. Its fields are not checked. */
export type ApiRecord = Readonly<Record<string, unknown>>;

/** Checks that the body of a response is a list. @throws IDKIT_FAILED */
export function asRecords(body: unknown, what: string): readonly ApiRecord[] {
  if (Array.isArray(body)) return body as ApiRecord[];
  throw new IdkitError('IDKIT_FAILED', `the response of the service is not a list of ${what}`);
}

/**
 * Builds a path below `/admin/realms` and encodes each segment.
 *
 * @throws IDKIT_USAGE for an empty segment, `.` and `..`, with which a URL would name another record
 */
export function apiPath(...segments: readonly string[]): string {
  return segments
    .map((segment) => {
      if (isSegment(segment)) return `/${encodeURIComponent(segment)}`;
      throw new IdkitError('IDKIT_USAGE', `${JSON.stringify(segment)} is not a valid name`);
    })
    .join('');
}

/** Reports whether a name can be one segment of a path. A URL resolves `.` and `..`, even if they are encoded. */
export function isSegment(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..';
}
