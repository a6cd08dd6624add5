/**
 * `node test/bench/guess-times.ts [--postgres] [--policy TEXT] [--rounds N]` checks that the time of a rejection does
 * not reveal whether the user exists. It runs a service in this process, sends it password guesses for each kind of
 * user alternately, and prints the median times. It exits with 1 if a median differs from that of a wrong password by
 * more than `TOLERANCE`. With the default policy, hashing takes almost no time, so that other differences become
 * visible.
 */
import { appendFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { administrator } from '../http/administrator.ts';
import { form, makePlatform, startTestService, tokenUrl } from '../http/service.ts';
import { makeDatabase } from '../store/databases.ts';
import { startPostgres } from '../store/postgres-server.ts';
import { median } from './measure.ts';

/**
 * Accepted difference: a share of the median for a wrong password, or a number of milliseconds that is always noise,
 * whichever is greater.
 */
const TOLERANCE = { share: 0.1, milliseconds: 0.15 };
const PASSWORD = 'Correct-Horse-1';

const { values } = parseArgs({
  options: { postgres: { type: 'boolean' }, policy: { type: 'string' }, rounds: { type: 'string' } },
});
const rounds = Number(values.rounds ?? 400);
const ends: (() => Promise<void>)[] = [];
const platform = makePlatform();
const flags: Record<string, string> = {};
if (values.postgres === true) {
  const server = await startPostgres({ after: (end) => void ends.unshift(end) });
  flags['database'] = (await makeDatabase(server)).url;
  appendFileSync(`${platform.dir}/.env`, `IDKIT_DATABASE_PASSWORD=${server.password}\n`);
}
const service = await startTestService({ platform, flags });
ends.unshift(() => service.close());

const KINDS: Readonly<Record<string, { user?: object; password?: string; lock?: boolean }>> = {
  'wrong password': { user: {} },
  'wrong password, by e-mail': { user: {} },
  nobody: {},
  'nobody, by e-mail': {},
  'locked, wrong': { user: {}, lock: true },
  'locked, right': { user: {}, lock: true, password: PASSWORD },
  disabled: { user: { enabled: false } },
  'no password': { user: { credentials: [] } },
  'unsupported hash': {
    user: {
      credentials: [
        {
          type: 'password',
          secretData: JSON.stringify({ value: 'eHh4eA==', salt: 'eHh4eA==' }),
          credentialData: JSON.stringify({ algorithm: 'bcrypt', hashIterations: 10 }),
        },
      ],
    },
  },
};

const admin = await administrator(service);
const plain = (kind: string) => kind.replaceAll(/\W+/g, '-');
const name = (kind: string) => (kind.includes('e-mail') ? `${plain(kind)}@example.test` : plain(kind));
for (const guarded of [true, false]) {
  const made = await admin('POST', '', {
    realm: `times-${guarded}`,
    enabled: true,
    bruteForceProtected: guarded,
    failureFactor: 100_000,
    quickLoginCheckMilliSeconds: 0,
    passwordPolicy: values.policy ?? 'hashAlgorithm(pbkdf2-sha256) and hashIterations(1)',
    clients: [{ clientId: 'web', publicClient: true, directAccessGrantsEnabled: true }],
    users: Object.entries(KINDS)
      .filter(([, { user }]) => user !== undefined)
      .map(([kind, { user }]) => ({
        username: plain(kind),
        email: `${plain(kind)}@example.test`,
        firstName: 'A',
        lastName: 'B',
        enabled: true,
        credentials: [{ type: 'password', value: PASSWORD }],
        ...user,
      })),
  });
  if (made.status !== 201) throw new Error(JSON.stringify(made.json));
}

async function guess(realm: string, username: string, password: string): Promise<number> {
  const fields = { grant_type: 'password', client_id: 'web', username, password };
  const began = performance.now();
  const answer = await fetch(tokenUrl(service, realm), form(fields));
  const text = await answer.text();
  const taken = performance.now() - began;
  if (answer.status !== 400 || !text.includes('Invalid user credentials'))
    throw new Error(`${username}: ${answer.status} ${text}`);
  return taken;
}

function shuffled<T>(list: readonly T[]): T[] {
  return list
    .map((value) => ({ value, place: Math.random() }))
    .sort((one, other) => one.place - other.place)
    .map(({ value }) => value);
}

let faults = 0;
for (const guarded of [true, false]) {
  const realm = `times-${guarded}`;
  const kinds = Object.entries(KINDS).filter(([, { lock }]) => guarded || lock !== true);
  for (const [kind, { lock }] of kinds) {
    if (lock !== true) continue;
    await admin('PUT', `/${realm}`, { failureFactor: 1 });
    await guess(realm, name(kind), 'wrong');
    await admin('PUT', `/${realm}`, { failureFactor: 100_000 });
  }
  const times = new Map<string, number[]>(kinds.map(([kind]) => [kind, []]));
  for (let round = -20; round < rounds; round++)
    for (const [kind, { password = 'wrong' }] of shuffled(kinds)) {
      const taken = await guess(realm, name(kind), password);
      if (round >= 0) times.get(kind)!.push(taken);
    }
  console.log(`\n${guarded ? 'With' : 'Without'} brute force protection, ${rounds} guesses each:`);
  for (const [kind, taken] of times) {
    const one = median(taken);
    // A guess by e-mail address is compared with a wrong password by e-mail address, because the service searches two
    // columns for such an address.
    const usual = median(
      times.get(kind.includes('e-mail') ? 'wrong password, by e-mail' : 'wrong password')!,
    );
    const most = Math.max(TOLERANCE.milliseconds, TOLERANCE.share * usual);
    const fault = Math.abs(one - usual) > most;
    if (fault) faults++;
    console.log(`${kind.padEnd(26)} ${one.toFixed(3)} ms${fault ? '  differs from a wrong password' : ''}`);
  }
}
for (const end of ends) await end();
platform.remove();
process.exitCode = faults === 0 ? 0 : 1;
