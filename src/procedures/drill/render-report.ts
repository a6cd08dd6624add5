import type { DrillResult } from './contract.ts';

/** The report for people. */
export function renderDrillReport(result: DrillResult): string {
  return result.outcome;
}
