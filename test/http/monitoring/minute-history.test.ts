import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MinuteHistory } from '../../../src/http/monitoring/minute-history.ts';

const MINUTE = 60_000;
const START = 1_000 * MINUTE;

test('counts refreshes and logins by minute, and fills the minutes without any', () => {
  const history = new MinuteHistory(START);
  history.count('REFRESH_TOKEN', START + 5_000);
  history.count('REFRESH_TOKEN', START + 59_999);
  history.count('REFRESH_TOKEN_ERROR', START + 2 * MINUTE);
  history.count('LOGIN_ERROR', START + 2 * MINUTE);
  history.count('LOGOUT', START + 2 * MINUTE);
  const none = { renewals: 0, renewalFailures: 0, logins: 0, loginFailures: 0 };
  assert.deepEqual(history.minutes(START + 2 * MINUTE + 1), [
    { at: START, ...none, renewals: 2 },
    { at: START + MINUTE, ...none },
    { at: START + 2 * MINUTE, ...none, renewalFailures: 1, loginFailures: 1 },
  ]);
});

test('keeps the last three hours', () => {
  const history = new MinuteHistory(START);
  for (let minute = 0; minute < 1000; minute++) history.count('LOGIN', START + minute * MINUTE);
  const minutes = history.minutes(START + 999 * MINUTE);
  assert.equal(minutes.length, 180);
  assert.equal(minutes[0]?.at, START + 820 * MINUTE);
  assert.ok(minutes.every(({ logins }) => logins === 1));
});

test('counts into the newest minute while the clock is set back', () => {
  const history = new MinuteHistory(START);
  history.count('LOGIN', START + 5 * MINUTE);
  history.count('LOGIN', START + MINUTE);
  assert.deepEqual(
    history.minutes(START + 5 * MINUTE).map(({ logins }) => logins),
    [0, 0, 0, 0, 0, 2],
  );
});
