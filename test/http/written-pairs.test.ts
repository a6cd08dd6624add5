import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestService, type TestService } from './service.ts';
import { runEveryPair } from './written-pairs/pairs.ts';

let service: TestService;
before(async () => {
  service = await startTestService();
});
after(() => service.stop());

test('of every two rows that write one record at once, both changes are kept or one is refused', async () => {
  assert.ok((await runEveryPair([service])) > 400);
});
