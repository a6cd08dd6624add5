import { type Journal, putJournal } from './journal.ts';
import { replaceItems } from './replace-files.ts';
import type { StagedRestore } from './work.ts';

/**
 * Puts the database, then `.env`, `config/` and so on in place by rename. The journal says before what is about to
 * happen and after that it has; cut off anywhere, a second call goes on.
 */
export async function swapIn(staged: StagedRestore): Promise<Journal> {
  const { job, next, journal } = staged;
  await putJournal(job.dataDir, { ...journal, state: 'swapping', step: 'check' });
  await next.runtime.swapDatabase(job.id, { inPlace: journal.inPlace !== undefined });
  await replaceItems({ dir: job.settings.dir, id: job.id }, journal.items);
  const swapped: Journal = { ...journal, state: 'swapped', step: 'swap' };
  await putJournal(job.dataDir, swapped);
  return swapped;
}
