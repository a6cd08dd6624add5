/** How far the import of one realm is, counted in users; other work may get its turn before it resolves. */
export type Progress = (state: {
  phase: 'checked' | 'prepared' | 'stored';
  done: number;
  total: number;
}) => Promise<void>;
