import { join } from 'node:path';
import { openStore } from '../../src/store/open.ts';
import { newDirectory, newMasterKey } from '../store/files.ts';
import { START } from './records.ts';
import { storeConformance } from './store.ts';

storeConformance('sqlite', {
  open: async (t) => {
    let now = START;
    const store = await openStore({
      file: join(await newDirectory(t), 'idkit.db'),
      masterKey: newMasterKey(),
      clock: { now: () => now * 1000 },
    });
    t.after(() => store.close());
    return {
      store,
      setSeconds: (seconds) => {
        now = seconds;
      },
    };
  },
});
