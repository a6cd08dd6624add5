import type { StepDescription } from '../runbook.ts';

/** The drill in order: the specification's test restore in an isolated environment. */
export const DRILL_STEPS = [
  {
    id: 'isolate',
    title: 'Make an isolated platform directory',
    why: 'a test restore that can reach the platform is a danger to it',
  },
  {
    id: 'restore',
    title: 'Restore the set there and run the smoke tests',
    why: 'the drill must take the very way that a real restore takes',
  },
  {
    id: 'report',
    title: 'Write the report',
    why: 'an untold drill proves nothing to the next person',
  },
  {
    id: 'clean',
    title: 'Remove the isolated platform',
    why: 'it holds every secret of the real one',
  },
] as const satisfies readonly StepDescription[];
