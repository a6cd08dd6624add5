import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { MOVES, openTwo } from '../http/admin/written-pairs/moves.ts';
import { runEveryPair } from '../http/admin/written-pairs/pairs.ts';
import { missingPostgres, startPostgres } from '../store/postgres-server.ts';
import { type ReplicatedService, startReplicated } from './in-process.ts';

const skip = missingPostgres();
let service: ReplicatedService;
const ends: (() => Promise<void>)[] = [];

before(async () => {
  if (skip !== undefined) return;
  const server = await startPostgres({ after: (end) => void ends.push(end) });
  service = await startReplicated(server, { count: 2 });
});
after(async () => {
  await service?.close();
  for (const end of ends) await end();
});

test('if two replicas change one record in parallel, both changes are kept or one is rejected', {
  skip,
}, async () => {
  assert.ok((await runEveryPair(service.replicas)) > 400);
});

for (const [index, [title, run]] of Object.entries(MOVES).entries())
  test(`${title} (at two replicas)`, { skip }, async () => {
    const realm = `moves-${index}`;
    await run(await openTwo(service.replicas, realm), realm);
  });
