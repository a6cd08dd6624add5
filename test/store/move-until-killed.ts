// A process that moves the sessions of version 0.1.0 and refreshes their tokens, and writes the number of every
// refreshed session to a file, until it is killed: `move-until-killed.ts OPTIONS FIRST COUNT`, with the key in
// IDKIT_MASTER_KEY. OPTIONS is the JSON of a file or of an address and its password.
import { writeSync } from 'node:fs';
import { Secret } from '../../src/core/index.ts';
import { openStore } from '../../src/store/open.ts';
import { hash, START } from '../conformance/store/records.ts';
import { oldFamilyId, oldHash, oldSessionId } from './first-release.ts';

const [, , options = '', first, count] = process.argv;
const { file, url, password }: Record<string, string> = JSON.parse(options);
const place = file === undefined ? { postgres: { url: url!, password: new Secret(password!) } } : { file };
const masterKey = new Secret(process.env['IDKIT_MASTER_KEY']!);
const store = await openStore({ ...place, masterKey, clock: { now: () => START * 1000 } });

async function move(): Promise<void> {
  while ((await store.listBackgroundMigrations()).some(({ name }) => name === 'session rows'))
    await store.continueBackgroundMigration();
}

async function refresh(): Promise<void> {
  // The highest numbers first, so that the sessions are partly moved by the refresh and partly before.
  for (let n = Number(count) - 1 - Number(first); n >= 0; n--) {
    const answer = await store.rotateRefreshToken({
      sessionId: oldSessionId(n),
      familyId: oldFamilyId(n),
      presentedHash: oldHash(n, 'newest'),
      nextHash: hash(`next ${n}`),
      now: START + 10,
      singleUse: true,
      maxReuse: 0,
    });
    if (answer.outcome !== 'rotated') throw new Error(`session ${n} answered ${answer.outcome}`);
    writeSync(1, `${n}\n`);
  }
}

await Promise.all([move(), refresh()]);
await store.close();
