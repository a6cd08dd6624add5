import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Rotation, Store } from '../../src/store/index.ts';
import {
  aClient,
  aClientScope,
  aComponent,
  aFamily,
  aGroup,
  aRealm,
  aRole,
  aSession,
  aUser,
  hash,
  START,
} from './records.ts';

/** How a backend takes part: it only opens stores. Everything a test opens is closed with it. */
export interface ConformanceBackend {
  /** A new, empty store; the clock stands at `START` and is moved by `setSeconds`. */
  open(t: TestContext): Promise<{ store: Store; setSeconds(now: number): void }>;
}

/** One rule of the suite: a title and what must hold of a new store. */
export type Rule = (
  title: string,
  run: (store: Store, setSeconds: (now: number) => void) => Promise<void>,
) => void;

/** Makes each rule a test of the backend. */
export function ruleOf(name: string, backend: ConformanceBackend): Rule {
  return (title, run) => {
    test(`${name}: ${title}`, async (t) => {
      const { store, setSeconds } = await backend.open(t);
      await run(store, setSeconds);
    });
  };
}

/** A refresh of the session that `begin` starts. */
export const rotation = (more: Partial<Rotation>): Rotation => ({
  familyId: 'family-1',
  presentedHash: hash('first'),
  nextHash: hash('second'),
  now: START + 10,
  singleUse: true,
  maxReuse: 0,
  ...more,
});

/** A realm with one of each and one session. */
export async function begin(store: Store): Promise<void> {
  const applied = await store.apply([
    { do: 'create', realm: aRealm({}) },
    { do: 'create', role: aRole({}) },
    { do: 'create', group: aGroup({}) },
    { do: 'create', clientScope: aClientScope({}) },
    { do: 'create', component: aComponent({}) },
    { do: 'create', client: aClient({}) },
    { do: 'create', user: aUser({}) },
  ]);
  assert.deepEqual(applied, { outcome: 'applied' });
  await store.startSession(aSession({}), aFamily({}));
}
