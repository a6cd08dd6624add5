import type { SmokeResult } from './contract.ts';

/** JUnit XML of the checks, as CI servers read it. */
export function renderJunit(_result: SmokeResult): string {
  return '';
}
