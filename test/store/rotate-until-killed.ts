// A process that refreshes tokens as fast as it can and writes every completed rotation to a file, until it is killed. The
// third argument is the grace period in seconds.
import { writeSync } from 'node:fs';
import { Secret } from '../../src/core/index.ts';
import { openStore } from '../../src/store/open.ts';
import { aFamily, aRealm, aSession, aUser, hash, START } from '../conformance/store/records.ts';

const [, , file, key, grace = '0'] = process.argv;
const store = await openStore({ file: file!, masterKey: new Secret(key!) });
await store.apply([
  { do: 'create', realm: aRealm({}) },
  { do: 'create', user: aUser({}) },
]);
await Promise.all(
  Array.from({ length: 16 }, async (_, caller) => {
    const id = `family-${caller}`;
    await store.startSession(
      aSession({ id: `session-${caller}` }),
      aFamily({ id, sessionId: `session-${caller}`, currentHash: hash(`${id} 0`) }),
    );
    for (let use = 0; ; use++) {
      const answer = await store.rotateRefreshToken({
        sessionId: `session-${caller}`,
        familyId: id,
        presentedHash: hash(`${id} ${use}`),
        nextHash: hash(`${id} ${use + 1}`),
        now: START + use,
        singleUse: true,
        maxReuse: 0,
        ...(grace === '0' ? {} : { grace: { seconds: Number(grace), successor: Buffer.from(`${use + 1}`) } }),
      });
      if (answer.outcome !== 'rotated') throw new Error(answer.outcome);
      writeSync(1, `${caller} ${use + 1}\n`);
    }
  }),
);
