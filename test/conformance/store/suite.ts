import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Rotation, Store } from '../../../src/store/index.ts';
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
  /**
   * A new, empty database, with two stores on it where several may be, else the same one twice; the clock of both stands
   * at `START` and is moved by `setSeconds`.
   */
  open(t: TestContext): Promise<{ store: Store; other: Store; setSeconds(now: number): void }>;
}

/** One rule of the suite: a title and what must hold of a new store; what is parallel happens in `other` too. */
export type Rule = (
  title: string,
  run: (store: Store, setSeconds: (now: number) => void, other: Store) => Promise<void>,
) => void;

/** Makes each rule a test of the backend. */
export function ruleOf(name: string, backend: ConformanceBackend): Rule {
  return (title, run) => {
    test(`${name}: ${title}`, async (t) => {
      const { store, other, setSeconds } = await backend.open(t);
      await run(store, setSeconds, other);
    });
  };
}

/** Many calls at once, by turns in two stores. */
export function many<T>(
  count: number,
  [store, other]: readonly [Store, Store],
  call: (store: Store, number: number) => Promise<T>,
): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, (_, i) => call(i % 2 === 0 ? store : other, i)));
}

/** How often an outcome is among them. */
export function counted(outcomes: readonly string[], outcome: string): number {
  return outcomes.filter((one) => one === outcome).length;
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
