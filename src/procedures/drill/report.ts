import type { DrillResult } from './options.ts';

/** The report for people: verdict, time of each phase, checklist, and what was red. */
export function renderDrillReport(result: DrillResult): string {
  const lines = [
    `Restore drill of ${result.set}`,
    `begun ${result.startedAt}, ${result.outcome} after ${toSeconds(result.milliseconds)}`,
    '',
    'Phases',
    ...result.phases.map(
      ({ id, milliseconds }) => `  ${id.padEnd(14)}${toSeconds(milliseconds).padStart(9)}`,
    ),
  ];
  if (result.checklist.length > 0) {
    lines.push('', 'Checklist');
    for (const { outcome, title, detail } of result.checklist) {
      lines.push(`  ${outcome.padEnd(15)}${title}: ${detail}`);
    }
  }
  if (result.failure !== undefined) lines.push('', `Failed: ${result.failure.message}`);
  for (const { message } of result.findings) lines.push(`Finding: ${message}`);
  if (result.dir !== undefined) lines.push('', `Kept: ${result.dir} (it holds every secret of the platform)`);
  return `${lines.join('\n')}\n`;
}

function toSeconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(2)} s`;
}
