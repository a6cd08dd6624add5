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

/** What a backend provides to the tests. Everything that it opens is closed when the test ends. */
export interface ConformanceBackend {
  /**
   * Creates an empty database and opens two stores on it, or one store twice if the backend permits only one. The
   * clocks of both start at `START`; `setSeconds` changes them.
   */
  open(t: TestContext): Promise<{ store: Store; other: Store; setSeconds(now: number): void }>;
}

/**
 * Defines a test of a rule, which `title` states. `run` checks the rule on a new store. `other` is a second store on
 * the same database.
 */
export type Rule = (
  title: string,
  run: (store: Store, setSeconds: (now: number) => void, other: Store) => Promise<void>,
) => void;

/** Returns the function that turns each rule into a test of this backend. */
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

export function counted(outcomes: readonly string[], outcome: string): number {
  return outcomes.filter((one) => one === outcome).length;
}

/** Returns the arguments that rotate the first refresh token of the session that `begin` starts. */
export const rotation = (more: Partial<Rotation>): Rotation => ({
  sessionId: 'session-1',
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
