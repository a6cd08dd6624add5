import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type AdminApi, adminApi } from '../http/administrator.ts';
import { person } from '../http/browser/acme.ts';
import { form, login, tokenUrl } from '../http/service.ts';
import { missingPostgres, startPostgres } from '../store/postgres-server.ts';
import { type ReplicatedService, startReplicated } from './in-process.ts';

const skip = missingPostgres() ?? false;

let service: ReplicatedService;
let admin: AdminApi;
const ends: (() => Promise<void>)[] = [];

before(async () => {
  if (skip) return;
  const server = await startPostgres({ after: (end) => void ends.push(end) });
  service = await startReplicated(server, { count: 2 });
  admin = adminApi(service, (await login(service))['access_token']!);
  const made = await admin('POST', '', {
    realm: 'acme',
    enabled: true,
    eventsEnabled: true,
    bruteForceProtected: true,
    failureFactor: 5,
    waitIncrementSeconds: 60,
    maxFailureWaitSeconds: 900,
    quickLoginCheckMilliSeconds: 0,
    passwordPolicy: 'hashAlgorithm(pbkdf2-sha256) and hashIterations(1)',
    users: [person('alice'), person('bob'), person('carol')],
    clients: [{ clientId: 'web', publicClient: true, directAccessGrantsEnabled: true }],
  });
  assert.equal(made.status, 201, JSON.stringify(made.json));
});
after(async () => {
  await service?.close();
  for (const end of ends) await end();
});

async function guess(username: string, password: string, at = service.address) {
  const fields = { grant_type: 'password', client_id: 'web', username, password };
  const answer = await fetch(tokenUrl({ address: at }, 'acme'), form(fields));
  return { status: answer.status, text: await answer.text() };
}

/** Returns a user's failed logins from the stored events. Under heavy load some events are dropped. */
async function failedLogins(userId: string) {
  const { json } = await admin('GET', `/acme/events?type=LOGIN_ERROR&user=${userId}&max=2000`);
  return json as { error: string; details: Record<string, string> }[];
}

async function idOf(username: string): Promise<string> {
  return (await admin('GET', `/acme/users?username=${username}&exact=true`)).json[0].id;
}

test('two replicas compare only five of 800 parallel guesses for one user’s password, and reject even the correct guess', {
  skip,
}, async () => {
  const guesses = Array.from({ length: 800 }, (_, at) => (at === 700 ? 'password-of-alice' : `guess-${at}`));
  const answers = await Promise.all(guesses.map((password) => guess('alice', password)));
  assert.equal(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size, 1);
  assert.equal(answers[0]!.status, 400);
  const alice = await idOf('alice');
  // Send five more wrong guesses. A busy machine may have compared fewer than five of the parallel ones, because each
  // guess waits only for a limited time.
  for (let count = 0; count < 5; count++) await guess('alice', 'wrong');
  const { json: state } = await admin('GET', `/acme/attack-detection/brute-force/users/${alice}`);
  assert.deepEqual([state.numFailures, state.disabled], [5, true]);
  const events = await failedLogins(alice);
  const compared = events.filter(
    ({ error, details }) => error === 'invalid_user_credentials' && details['reason'] === undefined,
  );
  assert.ok(compared.length <= 5, `${compared.length} were compared`);
  assert.equal((await guess('alice', 'password-of-alice')).status, 400, 'locked');
  assert.equal((await admin('DELETE', `/acme/attack-detection/brute-force/users/${alice}`)).status, 204);
  assert.equal(
    (await guess('alice', 'password-of-alice')).status,
    200,
    'the administrator has removed the lock',
  );
});

test('parallel correct logins of one user at two replicas all succeed', {
  skip,
}, async () => {
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, at) => guess('bob', 'password-of-bob', service.replicas[at % 2]!.address)),
  );
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
});

test('while hundreds of clients guess the password of one user, other users can log in and read', {
  skip,
}, async () => {
  const began = performance.now();
  const guesses = Promise.all(
    Array.from({ length: 300 }, (_, at) => guess(at % 3 === 0 ? 'nobody' : 'alice', `guess-${at}`)),
  );
  const others = await Promise.all([
    guess('carol', 'password-of-carol', service.replicas[0]!.address),
    guess('carol', 'password-of-carol', service.replicas[1]!.address),
    admin('GET', '/acme/users?max=1'),
  ]);
  assert.deepEqual(
    others.map(({ status }) => status),
    [200, 200, 200],
  );
  assert.equal(new Set((await guesses).map(({ status, text }) => `${status} ${text}`)).size, 1);
  assert.ok(performance.now() - began < 30_000, 'no other user waits for all of them');
});
