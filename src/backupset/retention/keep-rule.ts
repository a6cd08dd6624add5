import { renderCount } from '../../core/index.ts';
import type { PruneStep } from '../contract.ts';

/** How many sets stay, as restic names it. 0 in every member keeps all sets. */
export interface KeepCounts {
  /** The newest sets. */
  last: number;
  /** The newest set of each of the newest days, weeks (from Monday), months and years that have a set. UTC. */
  daily: number;
  weekly: number;
  monthly: number;
  yearly: number;
}

/** A set to which the rule is applied. */
export interface KeptSet {
  name: string;
  /** Unix time in milliseconds. */
  startedAt: number;
  /** True if it contains the database and no file is missing. Other sets never count for the rule. */
  good: boolean;
  future: boolean;
}

const PERIODS = {
  last: (at: number) => String(at),
  daily: (at: number) => new Date(at).toISOString().slice(0, 10),
  weekly: (at: number) => String(Math.floor((at / 86_400_000 + 3) / 7)),
  monthly: (at: number) => new Date(at).toISOString().slice(0, 7),
  yearly: (at: number) => new Date(at).toISOString().slice(0, 4),
} as const;

/**
 * Applies the rule to the sets of a target and gives every reason for which a set stays. The newest good set and sets dated
 * in the future always stay. Sets that cannot be restored alone stay while they are newer than the oldest kept one.
 * Returns the oldest set first.
 */
export function planKeep(sets: readonly KeptSet[], rule: KeepCounts): readonly PruneStep[] {
  const newestFirst = sets
    .filter(({ good, future }) => good && !future)
    .toSorted((a, b) => b.startedAt - a.startedAt);
  const reasons = new Map<string, string[]>();
  const add = (name: string, reason: string) => reasons.set(name, [...(reasons.get(name) ?? []), reason]);
  const names = Object.keys(PERIODS) as (keyof KeepCounts)[];
  const keepsAll = names.every((period) => rule[period] === 0);
  for (const period of names) {
    const seen = new Set<string>();
    for (const { name, startedAt } of newestFirst) {
      const key = PERIODS[period](startedAt);
      if (seen.has(key) || seen.size >= rule[period]) continue;
      seen.add(key);
      add(name, `${period} ${seen.size} of ${rule[period]}`);
    }
  }
  const [newest] = newestFirst;
  if (newest !== undefined) add(newest.name, 'it is the newest good set');
  const oldestKept =
    newestFirst.findLast(({ name }) => reasons.has(name))?.startedAt ?? Number.POSITIVE_INFINITY;
  return sets
    .toSorted((a, b) => a.startedAt - b.startedAt)
    .map(({ name, startedAt, good, future }): PruneStep => {
      const keep = (reason: string): PruneStep => ({ name, action: 'keep', reason });
      if (future) return keep('it is dated in the future');
      if (keepsAll) return keep('no rule is set');
      const found = reasons.get(name);
      if (found !== undefined) return keep(found.join(', '));
      // Without a good set, nothing shows that the others are not needed.
      if (newest === undefined) return keep('there is no good set');
      if (!good && startedAt >= oldestKept) return keep('it is newer than the oldest set that is kept');
      return { name, action: 'delete', reason: `no rule keeps it (${renderRule(rule)})` };
    });
}

function renderRule(rule: KeepCounts): string {
  const parts = Object.entries(rule).filter(([, count]) => count > 0);
  return parts
    .map(([period, count]) => (period === 'last' ? renderCount(count, 'last set') : `${count} ${period}`))
    .join(', ');
}
