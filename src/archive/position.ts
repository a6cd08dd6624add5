import type { ArchiveState } from './local-state.ts';

/**
 * Returns the newest moment that can be restored, for how many seconds the oldest transaction after it has been waiting,
 * and the number of gaps. Without a complete base, only the number of gaps is known.
 *
 * @param now Unix time in milliseconds
 */
export function archivePosition(
  state: ArchiveState | undefined,
  now: number,
): { newest?: number; lagSeconds?: number; gaps: number } {
  const gaps = state?.gaps ?? [];
  if (state?.newest === undefined || state.base === undefined) return { gaps: gaps.length };
  const open = gaps.find(({ until }) => until === undefined)?.from ?? now;
  const since = Math.min(state.behindSince ?? now, open);
  return {
    newest: state.newest,
    lagSeconds: Math.max(0, Math.round((now - since) / 1000)),
    gaps: gaps.length,
  };
}
