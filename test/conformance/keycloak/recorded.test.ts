import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Administrator } from './administrator.ts';
import { needsLaterPart, type RecordedCase, readCases, readFixtures } from './cases.ts';
import { DELIBERATE_DIFFERENCES, NOT_YET_BUILT } from './differences.ts';
import { type RunningPlatform, startPlatform } from './platform.ts';
import { addClient, addUser, type MadeRealm, makeRealm, makeStandardRealm } from './realms.ts';
import { type Replayed, replay, type Stage } from './replay.ts';

const fixtures = readFixtures();
/** The case that lists role members runs last, because it was recorded after the cases that assign roles to users. */
const cases = readCases().sort((a, b) => Number(a.id === 'role-users') - Number(b.id === 'role-users'));
let platform: RunningPlatform;
let administrator: Administrator;
let standard: MadeRealm;

before(async () => {
  platform = await startPlatform();
  administrator = new Administrator(platform.baseUrl);
  standard = await makeStandardRealm(administrator, fixtures, 'recorded');
  for (const one of cases) {
    for (const { clientId, ...entry } of one.realm?.added ?? []) {
      if (typeof clientId === 'string') await addClient(administrator, standard, clientId, entry);
      else await addUser(administrator, fixtures, standard, String(entry['user']), entry);
    }
  }
});

after(() => platform?.close());

/**
 * Returns whether a recorded case creates its realm with a request. If so, no realm with the name `{realm}` may exist
 * beforehand.
 */
function createsItsRealm(one: RecordedCase): boolean {
  return one.steps.some(
    ({ request }) =>
      request.method === 'POST' &&
      request.path === '/admin/realms' &&
      JSON.stringify(request).includes('{realm}'),
  );
}

/** Adds the user `eve` to the second realm, with the role view-users, which the recording does not contain. */
async function addEve(realm: MadeRealm): Promise<void> {
  await addUser(administrator, fixtures, realm, 'eve', {
    firstName: 'Eve',
    lastName: 'Else',
    email: 'eve@example.test',
    client_roles: { 'realm-management': ['view-users'] },
  });
}

async function stageFor(one: RecordedCase, index: number): Promise<Stage> {
  const name = `case-${index}`;
  const own = one.realm?.realm;
  const stage: Omit<Stage, 'startedAt'> = { baseUrl: platform.baseUrl, administrator, realm: standard };
  if (own) stage.realm = await makeRealm(administrator, fixtures, name, own);
  else if (createsItsRealm(one)) stage.realm = { name, clients: new Map(), users: new Map() };
  if (one.realm?.realm2)
    stage.realm2 = await makeRealm(administrator, fixtures, `${name}-2`, one.realm.realm2);
  if (stage.realm2 && one.id === 'other-realm') await addEve(stage.realm2);
  return { ...stage, startedAt: Date.now() };
}

const tally = new Map<string, { same: number; different: number; notYet: number }>();

function count(area: string, kind: 'same' | 'different' | 'notYet'): void {
  const row = tally.get(area) ?? { same: 0, different: 0, notYet: 0 };
  row[kind] += 1;
  tally.set(area, row);
}

for (const [index, one] of cases.entries()) {
  const name = `${one.area}/${one.id}`;
  const later = needsLaterPart(one);
  if (later !== undefined) {
    count(one.area, 'notYet');
    continue;
  }
  test(`responds as ${one.expected === 'idkit' ? 'idkit must' : 'Keycloak 26'}: ${name}: ${one.title} (${one.source})`, async (t) => {
    const replayed: Replayed = await replay(await stageFor(one, index), one);
    if (replayed.outcome === 'not built') {
      assert.ok(
        NOT_YET_BUILT.has(name),
        `idkit responds to ${name} with 501, but differences.ts does not list it`,
      );
      return count(one.area, 'notYet');
    }
    assert.ok(
      !NOT_YET_BUILT.has(name),
      `idkit does not respond to ${name} with 501; remove it from differences.ts`,
    );
    count(one.area, replayed.outcome);
    const reason = DELIBERATE_DIFFERENCES[name];
    if (one.informative) {
      if (replayed.outcome === 'different')
        t.diagnostic(`informative: ${JSON.stringify(replayed.differences)}`);
      return;
    }
    if (reason !== undefined) {
      assert.equal(
        replayed.outcome,
        'different',
        `idkit responds to ${name} as Keycloak does; remove it from differences.ts`,
      );
      return;
    }
    if (replayed.outcome === 'different') {
      assert.fail(
        `step ${replayed.step}:\n${replayed.differences
          .map(
            (each) =>
              `  ${each.path}: ${JSON.stringify(each.expected)} expected, but ${JSON.stringify(each.actual)} received`,
          )
          .join('\n')}`,
      );
    }
  });
}

test('every listed difference is a recorded case', () => {
  const names = new Set(cases.map((one) => `${one.area}/${one.id}`));
  for (const name of [...Object.keys(DELIBERATE_DIFFERENCES), ...NOT_YET_BUILT])
    assert.ok(names.has(name), name);
});

after(() => {
  for (const [area, row] of tally) {
    console.log(`# ${area}: ${row.same} same, ${row.different} different, ${row.notYet} not yet built`);
  }
});
