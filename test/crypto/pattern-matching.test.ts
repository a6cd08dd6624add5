import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { findContentFault, HashingBusy, matchPatterns } from '../../src/crypto/index.ts';

const ENDLESS = '(a+)+b';
const text = 'a'.repeat(60);

describe('the patterns of a password policy', () => {
  it('a pattern must match the whole text, and an invalid pattern never matches', async () => {
    const checks = ['[a-z]+', '[a-y]', '[a-z', 'z|y', '\\p{Ll}+'].map((pattern) => ({ pattern, text: 'zz' }));
    const matches = await matchPatterns(checks);
    assert.deepEqual(
      checks.map((check) => matches(check.pattern, check.text)),
      [true, false, false, false, true],
    );
    assert.equal(matches('[a-z]+', 'other'), false, 'this check did not run');
  });

  it('patterns share one time budget and do not block the event loop', async () => {
    let turns = 0;
    const counting = setInterval(() => turns++, 5);
    const began = performance.now();
    const policy = Array.from({ length: 10 }, (_, at) => `regexPattern(${ENDLESS}${at})`).join(' and ');
    const fault = await findContentFault(policy, { password: text, username: 'alice' });
    clearInterval(counting);
    assert.equal(fault?.key, 'invalidPasswordRegexPatternMessage');
    assert.ok(performance.now() - began < 5000);
    assert.ok(turns >= 5, `${turns} turns of the event loop`);
  });

  it('a pattern that exceeds the time budget does not disturb later checks', async () => {
    await matchPatterns([{ pattern: ENDLESS, text }]);
    const matches = await matchPatterns([{ pattern: 'a+', text }]);
    assert.equal(matches('a+', text), true);
  });

  it('checks wait in a queue and are rejected immediately if it is full', async () => {
    const endless = Array.from({ length: 40 }, () => matchPatterns([{ pattern: ENDLESS, text }]));
    const outcomes = await Promise.allSettled(endless);
    const refused = outcomes.filter((one) => one.status === 'rejected');
    assert.equal(refused.length, 40 - 2 - 16);
    for (const one of refused) assert.ok(one.reason instanceof HashingBusy);
  });
});
