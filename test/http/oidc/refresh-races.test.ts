import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { login, refresh, startTestService, type TestService } from '../service.ts';

let service: TestService;
before(async () => {
  service = await startTestService();
});
after(() => service.stop());

test('exactly one of 200 parallel refreshes with the same token succeeds', async () => {
  for (let round = 0; round < 3; round++) {
    const { refresh_token: token } = await login(service);
    const answers = await Promise.all(Array.from({ length: 200 }, () => refresh(service, token!)));
    const won = answers.filter((answer) => answer.status === 200);
    assert.equal(won.length, 1);
    for (const answer of answers)
      if (answer.status !== 200) assert.equal(answer.body['error'], 'invalid_grant');
    // The other refreshes reused the token. That ends the whole session, so the new token is invalid too.
    assert.equal((await refresh(service, won[0]!.body['refresh_token']!)).status, 400);
  }
});
