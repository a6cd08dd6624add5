import { IdkitError, renderCount } from '../../core/index.ts';
import { renderAge, renderBytes } from '../units.ts';
import type { FoundSets } from './find-sets.ts';
import type { SetVerdict } from './options.ts';

/** From worst to best. The worst verdict of all sets decides the exit code. */
const WORST_FIRST = ['damaged', 'passphrase', 'unreadable'] as const;

const CODES = {
  damaged: 'IDKIT_DAMAGED',
  passphrase: 'IDKIT_CREDENTIALS',
  unreadable: 'IDKIT_VERSION',
} as const;

const HINTS = {
  damaged: ['restore from another set; idkit backups list shows the sets', 'make a new backup now'],
  passphrase: [],
  unreadable: [],
} as const;

/** Returns the verdict of the worst set, or undefined if there are no sets. */
export function worstVerdict(sets: readonly SetVerdict[]): SetVerdict['verdict'] | undefined {
  if (sets.length === 0) return undefined;
  return WORST_FIRST.find((verdict) => sets.some((set) => set.verdict === verdict)) ?? 'good';
}

/** Returns the error to end with, or undefined if every set is good. */
export function worstFault(sets: readonly SetVerdict[]): IdkitError | undefined {
  for (const verdict of WORST_FIRST) {
    const bad = sets.filter((set) => set.verdict === verdict);
    if (bad.length === 0) continue;
    const message = bad.map(({ name, problems }) => `${name}: ${problems.join('; ')}`).join('; ');
    return new IdkitError(CODES[verdict], message, {
      hints: [...new Set([...bad.flatMap(({ hints }) => hints), ...HINTS[verdict]])],
    });
  }
  return undefined;
}

/** Renders one line for people and cron. */
export function renderVerdict(found: FoundSets, sets: readonly SetVerdict[]): string {
  if (sets.length === 0) return `missing: ${found.root} has no backup that can be restored`;
  const bad = WORST_FIRST.flatMap((verdict) => {
    const such = sets.filter((set) => set.verdict === verdict);
    const [only] = such;
    if (only === undefined) return [];
    if (such.length === 1) return [`${verdict}: ${renderSet(only)}`];
    return [`${verdict}: ${such.length} of ${sets.length} sets: ${such.map(({ name }) => name).join(', ')}`];
  });
  if (bad.length > 0) return bad.join('; ');
  return renderGood(sets);
}

/** Renders the line for good sets. It also says whether their seals prove their origin. */
function renderGood(sets: readonly SetVerdict[]): string {
  const [first, last] = [sets[0], sets.at(-1)];
  const unsealed = sets.filter(({ seal }) => seal === 'unsealed').length;
  const one = first !== undefined && first === last;
  const sizes = one ? renderSet(first) : `${sets.length} sets, ${first?.name} to ${last?.name}`;
  const which = unsealed === 0 ? '' : one ? ', unsealed' : `, ${unsealed} of them unsealed`;
  if (sets.some(({ seal }) => seal === 'not checked'))
    return `good, not authenticated: no passphrase (${sizes}${which})`;
  return `good: ${sizes}${which}`;
}

function renderSet({ name, files, bytes, ageSeconds }: SetVerdict): string {
  const age = ageSeconds === undefined || ageSeconds < 0 ? '' : `, ${renderAge(ageSeconds)} old`;
  return `${name}, ${renderCount(files, 'file')}, ${renderBytes(bytes)}${age}`;
}
