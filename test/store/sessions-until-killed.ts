// A process that starts and ends sessions, token families and users as fast as it can, until it is killed. It writes a
// line for each write.
import { writeSync } from 'node:fs';
import { Secret } from '../../src/core/index.ts';
import { openStore } from '../../src/store/open.ts';
import { aFamily, aSession, aUser } from '../conformance/store/records.ts';

const [, , key, place, password] = process.argv;
const masterKey = new Secret(key!);
const store = await openStore(
  password === undefined
    ? { file: place!, masterKey }
    : { postgres: { url: place!, password: new Secret(password) }, masterKey },
);
await Promise.all(
  Array.from({ length: 4 }, async (_, caller) => {
    const userId = `killed-${caller}`;
    for (let turn = 0; ; turn++) {
      await store.apply([{ do: 'create', user: aUser({ id: userId, username: userId }) }]);
      for (const sessionId of [`${userId} ${turn} a`, `${userId} ${turn} b`]) {
        const family = { userId, sessionId };
        await store.startSession(
          aSession({ id: sessionId, userId }),
          aFamily({ ...family, id: `${sessionId} 1` }),
        );
        await store.startFamily(undefined, aFamily({ ...family, id: `${sessionId} 2` }));
      }
      await store.endSession(`${userId} ${turn} a`, false);
      if (turn % 3 > 0) await store.apply([{ do: 'remove', what: 'user', id: userId }]);
      else
        await store.apply([
          { do: 'endSessions', userId, offlineToo: true },
          { do: 'remove', what: 'user', id: userId },
        ]);
      writeSync(1, `${caller}\n`);
    }
  }),
);
