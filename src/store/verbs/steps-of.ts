import { applyChanges } from './apply.ts';
import {
  endUserSessions,
  finishLogin,
  putAuthenticationSession,
  removeConsent,
  startFamily,
  takeCode,
} from './login.ts';
import { appendEvents, putLoginFailures, removeFamily, rotate, startSession } from './sessions.ts';
import { run, type Steps } from './steps.ts';
import { sweep } from './sweep.ts';
import type { Verb, Verbs } from './verbs.ts';

/** Verbs whose statements stand or fall together; the others consist of statements that each leave whole rows. */
export const TOGETHER: ReadonlySet<Verb> = new Set([
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

/** The verb's steps; they throw `Refused` where the verb must be undone and answered all the same. */
export function stepsOf(verb: Verb, input: unknown): Steps<unknown> {
  switch (verb) {
    case 'rotate':
      return rotate(input as Verbs['rotate']['in']);
    case 'startSession':
      return startSession(input as Verbs['startSession']['in']);
    case 'run': {
      const { query, values } = input as Verbs['run']['in'];
      return run(query, values);
    }
    case 'apply':
      return applyChanges((input as Verbs['apply']['in']).changes);
    case 'removeFamily':
      return removeFamily(input as Verbs['removeFamily']['in']);
    case 'appendEvents':
      return appendEvents(input as Verbs['appendEvents']['in']);
    case 'putLoginFailures':
      return putLoginFailures(input as Verbs['putLoginFailures']['in']);
    case 'putAuthenticationSession':
      return putAuthenticationSession(input as Verbs['putAuthenticationSession']['in']);
    case 'finishLogin':
      return finishLogin(input as Verbs['finishLogin']['in']);
    case 'takeCode':
      return takeCode(input as Verbs['takeCode']['in']);
    case 'startFamily':
      return startFamily(input as Verbs['startFamily']['in']);
    case 'removeConsent':
      return removeConsent(input as Verbs['removeConsent']['in']);
    case 'endUserSessions':
      return endUserSessions(input as Verbs['endUserSessions']['in']);
    case 'sweep':
      return sweep(input as Verbs['sweep']['in']);
  }
}
