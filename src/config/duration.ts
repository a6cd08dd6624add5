import { IdkitError } from '../core/index.ts';

const UNIT_SECONDS = new Map([
  ['s', 1],
  ['m', 60],
  ['h', 3600],
  ['d', 86_400],
  ['w', 604_800],
]);

/**
 * Parses a duration such as `26h`, `7d`, `90m`, `30s` or `2w`, and returns seconds.
 *
 * @param name the flag or setting, for the error
 * @throws IDKIT_USAGE for any other text
 */
export function parseDuration(text: string, name: string): number {
  const [, count, unit = ''] = /^(\d{1,9})([smhdw])$/.exec(text) ?? [];
  const seconds = UNIT_SECONDS.get(unit);
  if (seconds === undefined) {
    throw new IdkitError(
      'IDKIT_USAGE',
      `${name} must be a duration such as 26h or 7d, not ${JSON.stringify(text)}`,
      {
        hints: ['write a whole number and one of s, m, h, d, w'],
      },
    );
  }
  return Number(count) * seconds;
}
