import { IdkitError } from '../../core/index.ts';
import type { Moment } from '../../procedures/index.ts';

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?Z$/;
const BEFORE = /^before:([A-Za-z0-9-]{8,64})$/;

/** Reads the value of `--at`. @throws IDKIT_USAGE */
export function readMoment(text: string | undefined): Moment | undefined {
  if (text === undefined) return undefined;
  const [, event] = BEFORE.exec(text) ?? [];
  if (event !== undefined) return { before: event };
  const at = TIME.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(at)) return { at };
  throw new IdkitError('IDKIT_USAGE', `--at is neither a time nor an event: ${text}`, {
    hints: [
      'a time is in UTC and looks like 2026-11-22T10:15:03Z or 2026-11-22T10:15:03.250Z',
      'before:EVENT-ID is the moment before the change that an administrator’s event describes; idkit admin event list admin prints the ids',
    ],
  });
}
