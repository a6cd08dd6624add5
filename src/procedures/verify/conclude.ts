import { IdkitError } from '../../core/index.ts';
import { renderAge, renderBytes } from '../age.ts';
import type { SetVerdict } from './contract.ts';
import type { FoundSets } from './find-sets.ts';

/** From worst to best; damage wins over a passphrase, that over a cipher (contract §3, verify). */
const WORST_FIRST = ['damaged', 'passphrase', 'unreadable'] as const;

const CODES = {
  damaged: 'IDKIT_DAMAGED',
  passphrase: 'IDKIT_CREDENTIALS',
  unreadable: 'IDKIT_VERSION',
} as const;

const HINTS = {
  damaged: ['restore from another set; idkit backups list shows what there is', 'make a new backup now'],
  passphrase: [],
  unreadable: [],
} as const;

/** The fault to end with; undefined where every set is good. */
export function worstFault(sets: readonly SetVerdict[]): IdkitError | undefined {
  for (const verdict of WORST_FIRST) {
    const bad = sets.filter((set) => set.verdict === verdict);
    if (bad.length === 0) continue;
    const told = bad.map(({ name, problems }) => `${name}: ${problems.join('; ')}`).join('; ');
    return new IdkitError(CODES[verdict], told, {
      hints: [...new Set([...bad.flatMap(({ hints }) => hints), ...HINTS[verdict]])],
    });
  }
  return undefined;
}

/** The one line for people and cron. */
export function renderVerdict(found: FoundSets, sets: readonly SetVerdict[]): string {
  if (sets.length === 0) return `missing: no backup that can be restored in ${found.root}`;
  const worst = WORST_FIRST.find((verdict) => sets.some((set) => set.verdict === verdict));
  const bad = sets.filter(({ verdict }) => verdict !== 'good');
  const subject = worst === undefined ? sets : bad;
  const [only] = subject;
  if (subject.length === 1 && only !== undefined) return `${worst ?? 'good'}: ${describeSet(only)}`;
  const names = subject.map(({ name }) => name);
  if (worst !== undefined) return `${worst}: ${bad.length} of ${sets.length} sets: ${names.join(', ')}`;
  return `good: ${sets.length} sets, ${names[0]} to ${names.at(-1)}`;
}

function describeSet({ name, files, bytes, ageSeconds }: SetVerdict): string {
  const age = ageSeconds === undefined || ageSeconds < 0 ? '' : `, ${renderAge(ageSeconds)} old`;
  return `${name}, ${files} files, ${renderBytes(bytes)}${age}`;
}
