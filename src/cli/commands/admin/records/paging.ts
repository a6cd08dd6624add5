import type { AdminClient } from '../../../../client/index.ts';
import { IdkitError } from '../../../../core/index.ts';
import type { CliCommand } from '../../../cli-command.ts';
import type { CommandContext, Flags } from '../../../command.ts';
import { textFlag, wholeNumber } from '../../../flags.ts';
import { FIRST_RECORDS } from '../../../output/formats.ts';
import { type ListOutcome, pluralOf } from '../../../output/lists.ts';
import { withOutputFlags } from '../../../output/presentation.ts';
import { terminalWidth } from '../../../terminal.ts';
import { type ApiRecord, asRecords } from '../lookup.ts';

/** Number of records that a list on a terminal shows without `--max` and `--all`. */
const TERMINAL_LIMIT = 100;

/** Maximum number of records in one request. To find a page, the service skips all records before it. */
const LARGEST_PAGE = 5_000;

/** The first request asks for few records, so that a list starts soon. One more shows that a terminal's list is cut. */
const FIRST_PAGE = Math.max(FIRST_RECORDS, TERMINAL_LIMIT) + 1;

/** How many times longer than the previous page a page may be. */
const GROWTH = 4;

/** A request should not take longer, in milliseconds. `callService` waits 10 s for a response. */
const REQUEST_MILLISECONDS = 2_000;

/** Adds the flags of a command that lists records. */
export function withListFlags(command: CliCommand): CliCommand {
  return withOutputFlags(command)
    .option('--max <number>', 'list at most this many')
    .option('--all', `list all (default: ${TERMINAL_LIMIT} on a terminal, all otherwise)`);
}

/** Returns the maximum number of records, or undefined for all. @throws IDKIT_USAGE */
export function readLimit(context: CommandContext, flags: Flags): number | undefined {
  const max = textFlag(flags, 'max');
  const all = flags['all'] === true;
  if (max !== undefined && all) throw new IdkitError('IDKIT_USAGE', '--max and --all exclude each other');
  if (max !== undefined) return wholeNumber(max, '--max', { from: 1, to: 1_000_000 });
  const { query } = context.presentation;
  return all || context.globals.json || query !== undefined || terminalWidth(context.terminal) === undefined
    ? undefined
    : TERMINAL_LIMIT;
}

/** The parameters of a request. A parameter can occur several times. */
export type Query = readonly (readonly [name: string, value: string])[];

/**
 * Reads records page by page with `first` and `max`, which both idkit and Keycloak 26 accept. While the records of a
 * page are used, the next page is requested. The pages are as long as the speed of the service permits.
 *
 * @param path below `/admin/realms`, without a query
 * @param limit the maximum number of records
 */
export async function* readPages(
  admin: AdminClient,
  path: string,
  { query = [], limit = Number.POSITIVE_INFINITY }: { query?: Query; limit?: number },
): AsyncGenerator<ApiRecord, void, void> {
  const request = async (first: number, max: number) => {
    const began = performance.now();
    const range = [
      ['first', String(first)],
      ['max', String(max)],
    ] as const;
    const parameters = new URLSearchParams([...query, ...range].map(([name, value]) => [name, value]));
    const { body } = await admin.call('GET', `${path}?${parameters}`);
    const page = asRecords(body, path.split('/').at(-1)!);
    return { page, milliseconds: performance.now() - began };
  };
  let max = Math.min(FIRST_PAGE, limit);
  let first = 0;
  let next = request(first, max);
  while (true) {
    const { page, milliseconds } = await next;
    first += page.length;
    const isLast = page.length < max || first >= limit;
    max = Math.min(nextSize(max, milliseconds), limit - first);
    if (!isLast) {
      next = request(first, max);
      // If the reader stops early, nobody waits for this request. Otherwise the loop above throws its error.
      next.catch(() => {});
    }
    yield* page;
    if (isLast) return;
  }
}

/** Returns the number of records for the next request. @param milliseconds how long the service took for `size` records */
export function nextSize(size: number, milliseconds: number): number {
  const inTime = Math.floor((size * REQUEST_MILLISECONDS) / milliseconds);
  return Math.max(FIRST_PAGE, Math.min(inTime, size * GROWTH, LARGEST_PAGE));
}

/**
 * Limits a list. If it has more records than the limit, the note at its end says so.
 *
 * @param records with one record more than the limit, if there are as many
 */
export function limited(
  context: CommandContext,
  flags: Flags,
  { list, limit }: { list: ListOutcome; limit: number | undefined },
): ListOutcome {
  if (limit === undefined) return list;
  let isCut = false;
  const records = async function* () {
    let count = 0;
    for await (const record of list.records) {
      count += 1;
      if (count > limit) {
        isCut = true;
        return;
      }
      yield record;
    }
  };
  // A script that gives --max knows that the list ends there.
  const isExpected = textFlag(flags, 'max') !== undefined && terminalWidth(context.terminal) === undefined;
  return {
    ...list,
    records: records(),
    note: () =>
      isCut && !isExpected
        ? `listed the first ${limit} ${pluralOf(list)}; --max N lists more, --all lists all`
        : list.note?.(),
  };
}
