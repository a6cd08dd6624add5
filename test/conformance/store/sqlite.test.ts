import { newStore } from '../../store/files.ts';
import { START } from './records.ts';
import { storeConformance } from './store.ts';

storeConformance('sqlite', {
  open: async (t) => {
    let now = START;
    const { store } = await newStore(t, { clock: { now: () => now * 1000 } });
    return {
      store,
      other: store,
      setSeconds: (seconds) => {
        now = seconds;
      },
    };
  },
});
