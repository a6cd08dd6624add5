import { Refused } from '../../verbs/apply.ts';
import { drive } from '../../verbs/steps.ts';
import { stepsOf, TOGETHER } from '../../verbs/steps-of.ts';
import type { Verb } from '../../verbs/verbs.ts';
import type { Statements } from '../statements.ts';

/** Runs one verb inside the batch's transaction. A verb that throws leaves nothing behind. */
export function runVerb(sql: Statements, verb: Verb, input: unknown): unknown {
  if (!TOGETHER.has(verb)) return drive(sql, stepsOf(verb, input));
  sql.database.exec('SAVEPOINT verb');
  try {
    const value = drive(sql, stepsOf(verb, input));
    sql.database.exec('RELEASE verb');
    return value;
  } catch (error) {
    // A full disk may have ended the whole transaction already.
    if (sql.database.isTransaction) sql.database.exec('ROLLBACK TO verb; RELEASE verb');
    if (error instanceof Refused) return error.answer;
    throw error;
  }
}
