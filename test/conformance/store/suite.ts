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

/** A backend only opens stores. Everything that a test opens closes with it. */
export interface ConformanceBackend {
  /**
   * Creates an empty database with two stores on it, or the same store twice if the backend permits only one. Both
   * clocks are at `START`; `setSeconds` moves them.
   */
  open(t: TestContext): Promise<{ store: Store; other: Store; setSeconds(now: number): void }>;
}

/** One rule of the suite: a title, and a condition on a new store. Parallel calls also run in `other`. */
export type Rule = (
  title: string,
  run: (store: Store, setSeconds: (now: number) => void, other: Store) => Promise<void>,
) => void;

/** Turns each rule into a test of the backend. */
export function ruleOf(name: string, backend: ConformanceBackend): Rule {
  return (title, run) => {
    test(`${name}: ${title}`, async (t) => {
      const { store, other, setSeconds } = await backend.open(t);
      await run(store, setSeconds, other);
    });
  };
}

/** Runs many calls in parallel, alternating between two stores. */
export function many<T>(
  count: number,
  [store, other]: readonly [Store, Store],
  call: (store: Store, number: number) => Promise<T>,
): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, (_, i) => call(i % 2 === 0 ? store : other, i)));
}

/** Counts an outcome. */
export function counted(outcomes: readonly string[], outcome: string): number {
  return outcomes.filter((one) => one === outcome).length;
}

/** Returns a refresh of the session that `begin` starts. */
export const rotation = (more: Partial<Rotation>): Rotation => ({
  familyId: 'family-1',
  presentedHash: hash('first'),
  nextHash: hash('second'),
  now: START + 10,
  singleUse: true,
  maxReuse: 0,
  ...more,
});

/** Creates a realm with one record of each kind and one session. */
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
