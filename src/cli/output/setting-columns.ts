import type { Column } from './lists.ts';

/** The columns of settings, in `idkit config show` and `idkit doctor`. */
export const SETTING_COLUMNS: readonly Column[] = [
  { title: 'SETTING', field: 'name' },
  { title: 'VALUE', field: 'value', show: (value) => (value === null ? 'null' : value) },
  { title: 'SOURCE', field: 'source' },
];
