import type { ArchiverState } from '../../platform/open.ts';
import type { Reporter } from '../../procedures/index.ts';
import type { OpenedLog } from '../../service/index.ts';

/** Returns a function that reports when the archive of a Postgres database begins, breaks, or works again. */
export function archiveReporter(
  reporter: Reporter,
  log: OpenedLog | undefined,
): (state: ArchiverState) => void {
  let shown = '';
  return ({ doing, chain, broken, fault }) => {
    if (doing === 'connecting' || doing === 'stopped') return;
    const key = `${doing} ${chain ?? ''} ${fault?.message ?? ''}`;
    if (key === shown) return;
    shown = key;
    const text = describe(doing, { broken, message: fault?.message });
    if (log === undefined) reporter.note(text);
    else if (fault === undefined) log.info(chain === undefined ? {} : { chain }, text);
    else log.warn({ code: fault.code, hints: fault.hints }, text);
  };
}

function describe(
  doing: ArchiverState['doing'],
  { broken, message }: { broken: string | undefined; message: string | undefined },
): string {
  switch (doing) {
    case 'waiting':
      return 'another replica archives the database';
    case 'base':
      return `the archive begins a new chain with a base backup: ${broken ?? 'it was empty'}`;
    case 'shipping':
      return 'the archive receives every transaction';
    default:
      return `the archive does not receive any transactions: ${message ?? 'unknown'}`;
  }
}
