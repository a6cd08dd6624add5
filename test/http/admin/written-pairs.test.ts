import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestService, type TestService } from '../service.ts';
import { MOVES, openTwo } from './written-pairs/moves.ts';
import { runEveryPair } from './written-pairs/pairs.ts';

let service: TestService;
before(async () => {
  service = await startTestService();
});
after(() => service.stop());

test('if two administrative routes change a record in parallel, both changes are kept or one of them is rejected', async () => {
  assert.ok((await runEveryPair([service])) > 400);
});

for (const [index, [title, run]] of Object.entries(MOVES).entries())
  test(`${title}`, async () => {
    const realm = `moves-${index}`;
    await run(await openTwo([service], realm), realm);
  });
