import { IdkitError } from '../core/index.ts';

const UNIT_SECONDS = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 } as const;

/**
 * Returns the seconds of a duration such as `26h`, `7d`, `90m`, `30s` or `2w`.
 *
 * @param name the flag or setting, for the error
 * @throws IDKIT_USAGE for anything else
 */
export function parseDuration(text: string, name: string): number {
  const match = /^(\d{1,9})([smhdw])$/.exec(text);
  if (match === null) {
    throw new IdkitError(
      'IDKIT_USAGE',
      `${name} must be a duration such as 26h or 7d, not ${JSON.stringify(text)}`,
      {
        hints: ['write a whole number and one of s, m, h, d, w'],
      },
    );
  }
  return Number(match[1]) * UNIT_SECONDS[match[2] as keyof typeof UNIT_SECONDS];
}
