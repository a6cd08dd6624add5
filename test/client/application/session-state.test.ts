import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  type LoggedOutReason,
  nextStep,
  reasonOfRefusal,
  type SessionEvent,
  type SessionState,
} from '../../../src/client/application/session-state.ts';

const REASONS: readonly LoggedOutReason[] = [
  'not_logged_in',
  'logout',
  'logout_elsewhere',
  'renewal_refused',
  'renewal_interrupted',
  'access_refused',
  'login_failed',
];

const anyEvent: fc.Arbitrary<SessionEvent> = fc.oneof(
  fc.record({ type: fc.constant('tokens' as const), user: fc.record({ sub: fc.string() }) }),
  fc.constant({ type: 'login_started' as const }),
  fc.record({ type: fc.constant('ended' as const), reason: fc.constantFrom(...REASONS), error: fc.string() }),
);

const loggedIn: SessionState = { name: 'logged_in', user: { sub: 'alice' } };

test('a rejected renewal ends the session, is reported to onUnexpectedLogin and starts a login', () => {
  const step = nextStep(loggedIn, { type: 'ended', reason: 'renewal_refused', error: 'invalid_grant' });
  assert.deepEqual(step, {
    state: { name: 'logged_out', reason: 'renewal_refused', error: 'invalid_grant' },
    startLogin: true,
    report: true,
  });
});

test('the end of a session because of a disabled realm or client is reported to onUnexpectedLogin, but does not start a login', () => {
  for (const error of ['realm_disabled', 'client_disabled']) {
    assert.equal(reasonOfRefusal({ status: 400, error }), 'access_refused');
  }
  assert.equal(reasonOfRefusal({ status: 403, error: 'access_denied' }), 'access_refused');
  assert.equal(reasonOfRefusal({ status: 400, error: 'invalid_grant' }), 'renewal_refused');
  const step = nextStep(loggedIn, { type: 'ended', reason: 'access_refused' });
  assert.deepEqual([step.startLogin, step.report], [false, true]);
});

test('a logout in this or another tab does not start a login, and is not reported to onUnexpectedLogin', () => {
  for (const reason of ['logout', 'logout_elsewhere'] as const) {
    const step = nextStep(loggedIn, { type: 'ended', reason });
    assert.deepEqual([step.state.name, step.startLogin, step.report], ['logged_out', false, false]);
  }
});

test('starts a login only after a session was lost, and only one for each lost session', () => {
  fc.assert(
    fc.property(fc.array(anyEvent, { maxLength: 20 }), (events) => {
      let state: SessionState = { name: 'starting' };
      for (const event of events) {
        const step = nextStep(state, event);
        if (step.startLogin) {
          assert.equal(state.name, 'logged_in');
          assert.equal(step.report, true);
          assert.equal(nextStep(step.state, event).startLogin, false);
        }
        if (step.report) assert.equal(step.state.name, 'logged_out');
        const stays: boolean = event.type === 'login_started' && state.name === 'logged_in';
        assert.equal(step.state.name === 'logged_in', event.type === 'tokens' || stays);
        state = step.state;
      }
    }),
  );
});
