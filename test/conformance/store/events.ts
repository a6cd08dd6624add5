import assert from 'node:assert/strict';
import type { AdminEvent, UserEvent } from '../../../src/model/index.ts';
import type { AdminEventQuery, EventQuery, Store } from '../../../src/store/index.ts';
import { aRealm, START } from './records.ts';
import { begin, type Rule } from './suite.ts';

const OTHER = 'realm-2';
/** Two texts with the same first 100 characters, because the indexes of Postgres contain only these. */
const LONG = ['x'.repeat(100), `${'x'.repeat(100)}y`];
const CLIENTS = ['app', 'App', 'shop', ...LONG, 'with "quotes" %_', undefined];
const USERS = ['user-1', 'user-2', ...LONG, undefined];
const ADDRESSES = ['192.0.2.1', '192.0.2.2', ...LONG, undefined];
const TYPES = ['LOGIN', 'LOGIN_ERROR', 'LOGOUT', 'CODE_TO_TOKEN'];
const PATHS = ['users/1', 'users/2', 'users/10/groups', 'clients/a_b', 'clients/a%b', 'roles', ...LONG];

/** Returns a generator of numbers below its argument, which always produces the same ones. */
function numbers(): (below: number) => number {
  let state = 12345;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((state / 2 ** 31) * below);
  };
}

/** Defines the rules of events. */
export function eventRules(rule: Rule): void {
  rule(
    'lists the same events for each combination of filters as a comparison of all events',
    async (store) => {
      const pick = await manyEvents(store);
      const ofRealm = (realmId: string) => store.listEvents({ realmId, first: 0, max: 10_000 });
      const [main, other] = [await ofRealm('realm-1'), await ofRealm(OTHER)];
      assert.equal(main.length, 300);
      assert.deepEqual(main, newestFirst(main));
      const all = [...main, ...other];
      for (let i = 0; i < 150; i++) {
        const times = [pick(20), pick(20)].sort((a, b) => a - b);
        const query: EventQuery = {
          realmId: pick(10) === 0 ? OTHER : 'realm-1',
          ...maybe(pick, 'clientId', [...CLIENTS, 'nobody']),
          ...maybe(pick, 'userId', [...USERS, 'nobody']),
          ...maybe(pick, 'ipAddress', [...ADDRESSES, '']),
          ...(pick(3) > 0 ? {} : { types: Array.from({ length: pick(3) }, () => TYPES[pick(4)]!) }),
          ...(pick(4) > 0 ? {} : { from: START * 1000 + times[0]! }),
          ...(pick(4) > 0 ? {} : { to: START * 1000 + times[1]! }),
          first: pick(3) === 0 ? pick(30) : 0,
          max: 1 + pick(40),
        };
        const expected = all
          .filter((event) => event.realmId === query.realmId)
          .filter((event) => query.clientId === undefined || event.clientId === query.clientId)
          .filter((event) => query.userId === undefined || event.userId === query.userId)
          .filter((event) => query.ipAddress === undefined || event.ipAddress === query.ipAddress)
          .filter(({ type }) => (query.types ?? []).length === 0 || query.types?.includes(type))
          .filter(({ time }) => time >= (query.from ?? 0) && time <= (query.to ?? Number.MAX_VALUE))
          .slice(query.first, query.first + query.max);
        assert.deepEqual(idsOf(await store.listEvents(query)), idsOf(expected), JSON.stringify(query));
        assert.deepEqual(
          idsOf(await collect(store.eventPages({ ...query, max: 1000 }))).slice(0, query.max),
          idsOf(expected),
        );
      }
    },
  );

  rule('lists the same events of administrators for each combination of filters', async (store) => {
    const pick = await manyEvents(store);
    const all = await store.listAdminEvents({ realmId: 'realm-1', first: 0, max: 10_000 });
    assert.equal(all.length, 200);
    for (let i = 0; i < 150; i++) {
      const path = [
        '*',
        'users/*',
        'users/1*',
        '*1',
        'clients/a_b',
        'clients/a%*',
        'cli*b',
        'roles',
        'x*',
        'z*',
        LONG[1]!,
      ];
      const query: AdminEventQuery = {
        realmId: 'realm-1',
        ...(pick(3) > 0 ? {} : { operationTypes: [['CREATE', 'UPDATE', 'DELETE', 'ACTION'][pick(4)]!] }),
        ...(pick(3) > 0 ? {} : { resourceTypes: ['USER', 'CLIENT', 'NONE'].slice(pick(3)) }),
        ...maybe(pick, 'resourcePath', path),
        ...maybe(pick, 'authRealmId', ['realm-1', OTHER, 'none']),
        ...maybe(pick, 'authClientId', CLIENTS),
        ...maybe(pick, 'authUserId', USERS),
        ...maybe(pick, 'authIpAddress', ADDRESSES),
        first: pick(3) === 0 ? pick(30) : 0,
        max: 1 + pick(40),
      };
      const pattern = (query.resourcePath ?? '*')
        .split('*')
        .map((text) => text.replaceAll('%', '[%]'))
        .join('.*');
      const expected = all
        .filter((event) => query.operationTypes?.includes(event.operationType) ?? true)
        .filter((event) => query.resourceTypes?.includes(event.resourceType) ?? true)
        .filter((event) => new RegExp(`^${pattern}$`).test(event.resourcePath))
        .filter((event) => query.authRealmId === undefined || event.authRealmId === query.authRealmId)
        .filter((event) => query.authClientId === undefined || event.authClientId === query.authClientId)
        .filter((event) => query.authUserId === undefined || event.authUserId === query.authUserId)
        .filter((event) => query.authIpAddress === undefined || event.authIpAddress === query.authIpAddress)
        .slice(query.first, query.first + query.max);
      assert.deepEqual(idsOf(await store.listAdminEvents(query)), idsOf(expected), JSON.stringify(query));
    }
  });

  rule('clears the events of one realm, however many there are', async (store) => {
    await manyEvents(store);
    await store.clearEvents('realm-1');
    await store.clearAdminEvents('realm-1');
    for (const [realmId, left] of [
      ['realm-1', 0],
      [OTHER, 1],
    ] as const) {
      assert.equal((await store.listEvents({ realmId, first: 0, max: 1000 })).length, left);
      assert.equal((await store.listAdminEvents({ realmId, first: 0, max: 1000 })).length, left);
    }
  });
}

/** Stores 300 events of users and 200 of administrators in one realm, and one of each in another. */
async function manyEvents(store: Store): Promise<(below: number) => number> {
  const pick = numbers();
  await begin(store);
  await store.apply([{ do: 'create', realm: aRealm({ id: OTHER, name: 'other' }) }]);
  const events = Array.from(
    { length: 301 },
    (_, i): UserEvent => ({
      id: `e${i}`,
      time: START * 1000 + pick(20),
      type: TYPES[pick(4)]!,
      realmId: i === 300 ? OTHER : 'realm-1',
      ...present('clientId', CLIENTS[pick(CLIENTS.length)]),
      ...present('userId', USERS[pick(USERS.length)]),
      ...present('ipAddress', ADDRESSES[pick(ADDRESSES.length)]),
      details: {},
    }),
  );
  await store.appendEvents(events);
  const adminEvents = Array.from(
    { length: 201 },
    (_, i): AdminEvent => ({
      id: `a${i}`,
      time: START * 1000 + pick(20),
      realmId: i === 200 ? OTHER : 'realm-1',
      authRealmId: pick(2) === 0 ? OTHER : 'realm-1',
      authClientId: CLIENTS[pick(CLIENTS.length - 1)]!,
      authUserId: USERS[pick(USERS.length - 1)]!,
      authIpAddress: ADDRESSES[pick(ADDRESSES.length - 1)]!,
      operationType: (['CREATE', 'UPDATE', 'DELETE'] as const)[pick(3)]!,
      resourceType: ['USER', 'CLIENT', 'ROLE'][pick(3)]!,
      resourcePath: PATHS[pick(PATHS.length)]!,
    }),
  );
  for (const adminEvent of adminEvents) await store.apply([{ do: 'record', adminEvent }]);
  return pick;
}

function present<N extends string>(name: N, value: string | undefined): { [K in N]?: string } {
  return (value === undefined ? {} : { [name]: value }) as { [K in N]?: string };
}

/** Returns one of the values, in a quarter of the calls. */
function maybe<N extends string>(
  pick: (below: number) => number,
  name: N,
  values: readonly (string | undefined)[],
): { [K in N]?: string } {
  return present(name, pick(4) === 0 ? values[pick(values.length)] : undefined);
}

function newestFirst(events: readonly UserEvent[]): readonly UserEvent[] {
  return events.toSorted(
    (one, other) => other.time - one.time || Number(other.id.slice(1)) - Number(one.id.slice(1)),
  );
}

function idsOf(events: readonly { id: string }[]): readonly string[] {
  return events.map(({ id }) => id);
}

async function collect<T>(pages: AsyncIterable<readonly T[]>): Promise<T[]> {
  const all: T[] = [];
  for await (const page of pages) all.push(...page);
  return all;
}
