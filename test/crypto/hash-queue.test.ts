import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FairQueue, type HashCaller, type QueuedJob } from '../../src/crypto/fair-queue.ts';
import { HashingBusy, hashPolicy, openPasswords } from '../../src/crypto/index.ts';
import { MOST_PATIENCE } from '../../src/crypto/password-threads.ts';

interface Job extends QueuedJob {
  name: string;
}

let count = 0;
function job(caller: Partial<HashCaller>, more: Partial<Job> = {}): Job {
  const whole = { realm: 'acme', address: '192.0.2.1', user: 'alice', ...caller };
  return {
    caller: whole,
    cost: 1,
    bytes: 10,
    since: count++,
    name: Object.values(caller).join(' '),
    ...more,
  };
}

function takeAll(queue: FairQueue<Job>): string[] {
  const names: string[] = [];
  for (let next = queue.take(); next !== undefined; next = queue.take()) names.push(next.name);
  return names;
}

const wide = { jobs: 100, bytes: 10_000, cost: 1000 };

describe('the queue of hashes', () => {
  it('alternates between realms, however many jobs a realm has', () => {
    const queue = new FairQueue<Job>(wide);
    for (let i = 0; i < 50; i++) queue.add(job({ realm: 'flooded', address: `192.0.2.${i}` }));
    queue.add(job({ realm: 'quiet' }));
    assert.ok(takeAll(queue).indexOf('quiet') <= 1);
  });

  it('alternates between the addresses of a realm, and between the users of an address', () => {
    const queue = new FairQueue<Job>(wide);
    for (let i = 0; i < 30; i++) queue.add(job({ address: '192.0.2.66', user: `user-${i}` }));
    for (let i = 0; i < 30; i++) queue.add(job({ address: '192.0.2.66', user: 'guessed-at' }));
    queue.add(job({ address: '198.51.100.7' }));
    queue.add(job({ address: '192.0.2.66', user: 'neighbour' }));
    const order = takeAll(queue);
    assert.ok(order.indexOf('198.51.100.7') <= 1);
    assert.ok(order.indexOf('192.0.2.66 neighbour') <= 34, `${order.indexOf('192.0.2.66 neighbour')}`);
    assert.equal(order.length, 62);
  });

  it('serves a caller with expensive hashes less often', () => {
    const queue = new FairQueue<Job>(wide);
    for (let i = 0; i < 5; i++) queue.add(job({ user: 'dear' }, { cost: 100 }));
    for (let i = 0; i < 20; i++) queue.add(job({ user: 'cheap' }));
    assert.deepEqual(takeAll(queue).slice(2, 21), new Array(19).fill('cheap'));
  });

  it('drops the newest job of the caller with the most jobs if the queue exceeds its limit of jobs, bytes or work', () => {
    for (const bounds of [
      { ...wide, jobs: 20 },
      { ...wide, bytes: 200 },
      { ...wide, cost: 20 },
    ]) {
      const queue = new FairQueue<Job>(bounds);
      for (let i = 0; i < 20; i++) assert.deepEqual(queue.add(job({ user: 'flood' })), []);
      const own = queue.add(job({ user: 'flood' }));
      assert.equal(own.length, 1);
      const [gone, ...others] = queue.add(job({ user: 'honest' }));
      assert.equal(gone?.name, 'flood');
      assert.deepEqual(others, []);
      assert.equal(queue.length, 20);
      assert.ok(takeAll(queue).indexOf('honest') <= 1);
    }
  });

  it('drops any job if all callers have equally many jobs, so that the last one can replace an earlier one', () => {
    for (const chosen of [0, 4, 10]) {
      const queue = new FairQueue<Job>({ ...wide, jobs: 10 }, (among) => (among === 11 ? chosen : 0));
      const names = Array.from({ length: 11 }, (_, i) => `user-${i}`);
      const gone = names.flatMap((user) => queue.add(job({ user })));
      assert.deepEqual(
        gone.map(({ name }) => name),
        [names[chosen]],
      );
      assert.deepEqual(
        takeAll(queue),
        names.filter((_, i) => i !== chosen),
      );
    }
  });

  it('serves any of the callers who have used equally much time, so that the last one does not wait for all others', () => {
    const queue = new FairQueue<Job>(wide, (among) => among - 1);
    for (let i = 0; i < 20; i++) queue.add(job({ user: `nobody-${i}` }));
    queue.add(job({ user: 'honest' }));
    assert.deepEqual(takeAll(queue).slice(0, 2), ['honest', 'nobody-19']);
  });

  it('drops no job of a quiet caller, whatever chance chooses, while a flood has more jobs', () => {
    const queue = new FairQueue<Job>({ ...wide, jobs: 20 });
    queue.add(job({ address: '198.51.100.7' }));
    queue.add(job({ realm: 'quiet' }));
    queue.add(job({ address: '192.0.2.66', user: 'neighbour' }));
    for (let i = 0; i < 500; i++) {
      const user = i % 2 === 0 ? 'guessed-at' : 'guessed-too';
      const gone = queue.add(job({ address: '192.0.2.66', user }));
      for (const { name } of gone) assert.match(name, /guessed/);
    }
    const order = takeAll(queue);
    assert.ok(order.indexOf('quiet') <= 1);
    assert.ok(order.indexOf('198.51.100.7') <= 3);
    assert.ok(order.indexOf('192.0.2.66 neighbour') <= 8);
  });

  it('takeOlderThan removes the jobs that arrived before the given time', () => {
    const queue = new FairQueue<Job>(wide, () => 0);
    for (let since = 1; since <= 5; since++) queue.add(job({ user: `${since}` }, { since }));
    assert.deepEqual(
      queue.takeOlderThan(3).map(({ name }) => name),
      ['1', '2'],
    );
    assert.deepEqual(takeAll(queue), ['3', '4', '5']);
    assert.equal(queue.length, 0);
    assert.equal(queue.bytes, 0);
  });
});

describe('password hashing', () => {
  it('rejects a hash immediately if the queue is full, but finishes the queued hashes and serves another realm', async () => {
    // In this test, no hash waits too long.
    const passwords = openPasswords({ threads: 1, now: () => 0 });
    try {
      const policy = hashPolicy(undefined);
      const flood = passwords.forCaller({ realm: 'a', address: '192.0.2.1', user: 'x' });
      const quiet = passwords.forCaller({ realm: 'b', address: '192.0.2.1', user: 'x' });
      await passwords.verifyNobody('warm', policy);
      let served = 0;
      const flooding = Array.from({ length: 500 }, () =>
        flood.verifyNobody('secret', policy).then(() => {
          served++;
        }),
      );
      const outcomes = Promise.allSettled(flooding);
      await quiet.verifyNobody('secret', policy);
      assert.ok(
        served <= 9,
        `${served} hashes of the flood were served first, more than one message to a thread`,
      );
      const refused = (await outcomes).filter((one) => one.status === 'rejected');
      assert.ok(refused.length >= 340 && refused.length < 500, `${refused.length} were refused`);
      for (const one of refused) assert.ok(one.reason instanceof HashingBusy);
      assert.deepEqual(passwords.figures(), { waiting: 0, refused: refused.length });
    } finally {
      await passwords.close();
    }
  });

  it('rejects every hash that has waited for a second when a thread could take it', async () => {
    let now = 0;
    const passwords = openPasswords({ threads: 1, now: () => now });
    try {
      const policy = hashPolicy(undefined);
      const outcomes = Promise.allSettled(
        Array.from({ length: 100 }, (_, i) =>
          passwords
            .forCaller({ realm: 'a', address: '192.0.2.1', user: `${i}` })
            .verifyNobody('secret', policy),
        ),
      );
      now = MOST_PATIENCE + 1;
      const refused = (await outcomes).filter((one) => one.status === 'rejected');
      assert.equal(refused.length, 99, 'all except the one that a thread took immediately');
      for (const one of refused) assert.ok(one.reason instanceof HashingBusy);
      assert.ok(MOST_PATIENCE <= 1000, 'a login among many gets a response within two seconds');
    } finally {
      await passwords.close();
    }
  });

  it('lets the hashes of an import wait as long as needed', async () => {
    const passwords = openPasswords({ threads: 2 });
    try {
      const policy = hashPolicy('hashAlgorithm(pbkdf2) and hashIterations(1)');
      await Promise.all(Array.from({ length: 600 }, () => passwords.hash('secret', policy)));
      assert.equal(passwords.figures().refused, 0);
    } finally {
      await passwords.close();
    }
  });
});
