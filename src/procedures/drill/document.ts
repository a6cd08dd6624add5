import type { DrillResult } from './options.ts';

/** Returns the result as JSON documents contain it. */
export function toDocument({ failure, ...report }: DrillResult): object {
  return {
    ...report,
    ...(failure === undefined ? {} : { failure: { code: failure.code, message: failure.message } }),
  };
}
