import { IdkitError } from '../core/index.ts';
import type { PostgresContext } from './context.ts';

/** Seconds that checking one constraint may take. */
const CHECK_SECONDS = 3600;

/**
 * Every foreign key of a loaded database holds and every index is whole. The load has checked those that the source
 * held to be checked; the others are checked now.
 *
 * @throws IDKIT_DAMAGED
 */
export async function checkConstraints({ psql }: PostgresContext, name: string): Promise<void> {
  const found = await psql.query(
    name,
    `SELECT json_build_object('table', conrelid::regclass::text, 'constraint', quote_ident(conname))
       FROM pg_constraint WHERE contype = 'f' AND NOT convalidated;
     SELECT json_build_object('index', indexrelid::regclass::text) FROM pg_index WHERE NOT indisvalid OR NOT indisready;`,
  );
  for (const row of found) {
    if (typeof row['index'] === 'string') throw damaged(`its index ${row['index']} is not whole`);
    const validate = `ALTER TABLE ${String(row['table'])} VALIDATE CONSTRAINT ${String(row['constraint'])};`;
    try {
      await psql.query(name, validate, { seconds: CHECK_SECONDS });
    } catch (error) {
      if (!(error instanceof IdkitError) || !/\b23503\b/.test(error.message)) throw error;
      throw damaged(`the foreign key ${String(row['constraint'])} of ${String(row['table'])} does not hold`);
    }
  }
}

function damaged(why: string): IdkitError {
  return new IdkitError('IDKIT_DAMAGED', `the loaded database is damaged: ${why}`);
}
