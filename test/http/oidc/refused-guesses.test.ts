import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type AdminApi, administrator } from '../administrator.ts';
import { form, startTestService, type TestService, tokenUrl } from '../service.ts';

const PASSWORD = 'Correct-Horse-1';

let service: TestService;
let admin: AdminApi;
before(async () => {
  service = await startTestService();
  admin = await administrator(service);
  const person = (username: string, more: object = {}) => ({
    username,
    enabled: true,
    email: `${username}@example.test`,
    firstName: 'A',
    lastName: 'B',
    credentials: [{ type: 'password', value: PASSWORD }],
    ...more,
  });
  const unsupported = {
    type: 'password',
    secretData: JSON.stringify({ value: 'eHh4eA==', salt: 'eHh4eA==' }),
    credentialData: JSON.stringify({ algorithm: 'bcrypt', hashIterations: 10 }),
  };
  const { status } = await admin('POST', '', {
    realm: 'acme',
    enabled: true,
    bruteForceProtected: true,
    failureFactor: 2,
    waitIncrementSeconds: 300,
    quickLoginCheckMilliSeconds: 0,
    passwordPolicy: 'hashAlgorithm(pbkdf2-sha256) and hashIterations(1)',
    users: [
      person('usual'),
      person('locked'),
      person('disabled', { enabled: false }),
      person('without', { credentials: [] }),
      person('unsupported', { credentials: [unsupported] }),
    ],
    clients: [{ clientId: 'web', publicClient: true, directAccessGrantsEnabled: true }],
  });
  assert.equal(status, 201);
});
after(() => service.stop());

async function guess(username: string, password: string) {
  const fields = { grant_type: 'password', client_id: 'web', username, password };
  const answer = await fetch(tokenUrl(service, 'acme'), form(fields));
  const headers = [...answer.headers].filter(([name]) => name !== 'date');
  return { status: answer.status, headers, text: await answer.text() };
}

test('every rejected guess gets the same status, headers and message, and is logged at the same level', async () => {
  for (let tries = 0; tries < 2; tries++) await guess('locked', 'wrong');
  const guesses: [name: string, password: string][] = [
    ['usual', 'wrong'],
    ['nobody', 'wrong'],
    ['nobody@example.test', 'wrong'],
    ['locked', 'wrong'],
    ['locked', PASSWORD],
    ['disabled', 'wrong'],
    ['without', 'wrong'],
    ['unsupported', 'wrong'],
  ];
  const answers = new Set<string>();
  const lines = new Set<string>();
  for (const [username, password] of guesses) {
    const before = service.log.length;
    answers.add(JSON.stringify(await guess(username, password)));
    const written = service.log.slice(before).map(({ level, message }) => `${level} ${message}`);
    assert.equal(written.length, 1, `${username}: ${written.join(', ')}`);
    lines.add(written[0]!);
  }
  assert.equal(answers.size, 1, [...answers].join('\n'));
  assert.deepEqual([...lines], ['warn LOGIN_ERROR']);
});

test('the log and the events of a guess for a locked user do not reveal whether the password is correct', async () => {
  const logged = new Set<string>();
  for (const password of ['wrong', PASSWORD]) {
    const before = service.log.length;
    await guess('locked', password);
    for (const { fields } of service.log.slice(before)) logged.add(JSON.stringify(fields));
    assert.ok(!service.logText().includes(PASSWORD));
  }
  assert.equal(logged.size, 1, [...logged].join('\n'));
  assert.match([...logged][0]!, /user_temporarily_disabled/);
});
