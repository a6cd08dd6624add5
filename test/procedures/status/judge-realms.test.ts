import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judgeRealms } from '../../../src/procedures/status/judge-realms.ts';

test('names the command that replaces an old or expiring key, with a realm name that a shell does not evaluate', () => {
  const now = Date.parse('2026-11-25T00:00:00Z');
  const key = { kid: 'k1', algorithm: 'RS256', status: 'ACTIVE' };
  const realm = {
    realm: '$(touch pwned)',
    users: 0,
    keys: [
      { ...key, ageDays: 400 },
      { ...key, expiresAt: '2026-12-01T00:00:00Z' },
    ],
    wildcards: [],
    unenforced: [],
  };
  const judgements = judgeRealms([realm], now);
  assert.deepEqual(
    judgements.map(({ code }) => code),
    ['KEY_NOT_ROTATED', 'KEY_EXPIRES'],
  );
  for (const { message } of judgements)
    assert.match(
      message,
      /; idkit admin key rotate --realm '\$\(touch pwned\)' --algorithm RS256 replaces it$/,
    );
});
