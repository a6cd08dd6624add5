import type { SmokeCheck } from '../../procedures/index.ts';
import type { Column } from './lists.ts';

const OUTCOMES: Readonly<Record<SmokeCheck['outcome'], string>> = {
  passed: 'passed',
  failed: 'FAILED',
  'not-applicable': 'does not apply',
};

const OUTCOME: Column = {
  title: 'OUTCOME',
  field: 'outcome',
  show: (outcome) => OUTCOMES[outcome as SmokeCheck['outcome']],
};

const ABOUT: readonly Column[] = [
  { title: 'SUBJECT', field: 'subject', priority: 2 },
  { title: 'DETAIL', field: 'detail' },
];

/** The columns of `idkit doctor`, whose checks have short ids. */
export const CHECK_COLUMNS: readonly Column[] = [OUTCOME, { title: 'CHECK', field: 'id' }, ...ABOUT];

/** The columns of `idkit smoke`, whose checks have titles. */
export const TITLED_CHECK_COLUMNS: readonly Column[] = [
  OUTCOME,
  { title: 'CHECK', field: 'title', priority: 2 },
  ...ABOUT,
];
