import type { StepDescription } from '../runbook.ts';

/** The verification in order (spec "Backup verification"). */
export const VERIFY_STEPS = [
  {
    id: 'find',
    title: 'Find the sets to verify',
    why: 'no set, or one that is too old, is the commonest way to have no backup',
  },
  {
    id: 'read',
    title: 'Read every byte of each set and compare it with checksums and manifest',
    why: 'a disk that rots says nothing until it is read',
  },
  {
    id: 'drill',
    title: 'Restore the set in isolation',
    why: 'only a restore proves that a set restores',
  },
] as const satisfies readonly StepDescription[];
