import type { AppliedRows, Verb, Verbs } from '../messages.ts';
import type { Statements } from '../statements.ts';
import { applyChanges, Refused } from './apply.ts';
import {
  endUserSessions,
  finishLogin,
  putAuthenticationSession,
  removeConsent,
  startFamily,
  takeCode,
} from './login.ts';
import { putLoginFailures, removeFamily, rotate, startSession } from './sessions.ts';
import { sweep } from './sweep.ts';

/** Verbs whose statements stand or fall together; the others consist of statements that each leave whole rows. */
const TOGETHER: ReadonlySet<Verb> = new Set([
  'apply',
  'startSession',
  'removeFamily',
  'appendEvents',
  'finishLogin',
  'takeCode',
  'startFamily',
  'removeConsent',
  'endUserSessions',
  'sweep',
]);

/** Runs one verb inside the batch's transaction. A verb that throws leaves nothing behind. */
export function runVerb(sql: Statements, verb: Verb, input: unknown): unknown {
  if (!TOGETHER.has(verb)) return dispatch(sql, verb, input);
  sql.database.exec('SAVEPOINT verb');
  try {
    const value = dispatch(sql, verb, input);
    sql.database.exec('RELEASE verb');
    return value;
  } catch (error) {
    // A full disk may have ended the whole transaction already.
    if (sql.database.isTransaction) sql.database.exec('ROLLBACK TO verb; RELEASE verb');
    if (error instanceof Refused) return error.answer satisfies AppliedRows;
    throw error;
  }
}

function dispatch(sql: Statements, verb: Verb, input: unknown): unknown {
  switch (verb) {
    case 'rotate':
      return rotate(sql, input as Verbs['rotate']['in']);
    case 'startSession':
      return startSession(sql, input as Verbs['startSession']['in']);
    case 'run': {
      const { query, values } = input as Verbs['run']['in'];
      return sql.run(query, values);
    }
    case 'apply':
      return applyChanges(sql, (input as Verbs['apply']['in']).changes);
    case 'removeFamily':
      return removeFamily(sql, input as Verbs['removeFamily']['in']);
    case 'appendEvents':
      for (const row of (input as Verbs['appendEvents']['in']).rows)
        if (sql.get('realm.byId', { id: row['realm_id'] }) !== undefined) sql.run('event.insert', row);
      return undefined;
    case 'putLoginFailures':
      return putLoginFailures(sql, input as Verbs['putLoginFailures']['in']);
    case 'putAuthenticationSession':
      return putAuthenticationSession(sql, input as Verbs['putAuthenticationSession']['in']);
    case 'finishLogin':
      return finishLogin(sql, input as Verbs['finishLogin']['in']);
    case 'takeCode':
      return takeCode(sql, input as Verbs['takeCode']['in']);
    case 'startFamily':
      return startFamily(sql, input as Verbs['startFamily']['in']);
    case 'removeConsent':
      return removeConsent(sql, input as Verbs['removeConsent']['in']);
    case 'endUserSessions':
      return endUserSessions(sql, input as Verbs['endUserSessions']['in']);
    case 'sweep':
      return sweep(sql, input as Verbs['sweep']['in']);
  }
}
