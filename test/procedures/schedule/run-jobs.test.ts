import assert from 'node:assert/strict';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { findJobRecord, putJobRecord } from '../../../src/backupset/index.ts';
import { acquireLock, type Settings } from '../../../src/config/index.ts';
import { runSchedule, runScheduleOnce } from '../../../src/procedures/index.ts';
import { runHook } from '../../../src/procedures/schedule/run/hook.ts';
import { MOST_POSTED_BYTES, openLogTail } from '../../../src/procedures/schedule/run/log-tail.ts';
import { freePort } from '../../free-port.ts';
import { waitUntil } from '../../wait-until.ts';
import { makeDirectory, procedureOptions } from '../platform.ts';
import { makeScheduled, startMonitor } from './scheduled.ts';

const HOUR = 3_600_000;
const START = Date.parse('2026-11-25T10:00:00Z');

/** Runs one job with the environment of a test. */
async function runNow(
  settings: Settings,
  job: 'retention' | 'verify' | 'mirror',
  env: NodeJS.ProcessEnv = {},
) {
  const options = procedureOptions();
  const result = await runScheduleOnce(settings, { ...options, env, job, pingPauses: [] }, 'now');
  return { ...result, notes: options.reported.notes };
}

/** Runs the schedule with a clock that jumps, until it has read each of the moments. */
async function runOver(settings: Settings, moments: readonly number[]): Promise<readonly string[]> {
  let now = moments[0]!;
  let at = 0;
  const end = new AbortController();
  const options = procedureOptions({ clock: { now: () => now }, signal: end.signal });
  const wait = async () => {
    at += 1;
    const next = moments[at];
    if (next === undefined) end.abort();
    else now = next;
  };
  await runSchedule(settings, { ...options, env: {}, wait });
  return options.reported.notes.filter((note) => note.includes('begins'));
}

describe('the schedule', () => {
  it('catches up once after the machine slept over several planned times', async (t) => {
    const settings = await makeScheduled(t, ['retention: "0 2 * * *"']);
    const later = START + 60 * HOUR;
    const ran = await runOver(settings, [START, START + 1000, later, later + 30_000, later + HOUR]);
    assert.deepEqual(ran, ['retention: begins, planned for 2026-11-27T02:00:00.000Z']);
    const record = await findJobRecord(settings.backup.root, 'retention');
    assert.deepEqual(record?.done, ['2026-11-27T02:00:00.000Z', '2026-11-25T02:00:00.000Z']);
    assert.equal(record?.last?.outcome, 'good');
    assert.equal(record?.goodAt, record?.last?.at);
    assert.equal(record?.expectedBy, '2026-11-28T03:00:00.000Z');
  });

  it('catches up once after the scheduler itself was down', async (t) => {
    const settings = await makeScheduled(t, ['retention: "0 2 * * *"']);
    assert.deepEqual(await runOver(settings, [START]), []);
    const later = START + 100 * HOUR;
    assert.equal((await runOver(settings, [later])).length, 1);
    assert.deepEqual(await runOver(settings, [later, later + 1000]), []);
  });

  it('runs each job on time after the clock went back by an hour and forward by a year', async (t) => {
    const settings = await makeScheduled(t, ['retention: "0 2 * * *"']);
    const due = Date.parse('2026-11-26T02:00:00Z');
    const moments = [START, due, due - HOUR, due + 1, due + 365 * 24 * HOUR, due + 2, due + 24 * HOUR];
    assert.deepEqual(
      (await runOver(settings, moments)).map((note) => note.slice(-24)),
      ['2026-11-26T02:00:00.000Z', '2027-11-26T02:00:00.000Z', '2026-11-27T02:00:00.000Z'],
    );
  });

  it('does not run a job again and again while the backup root cannot be written', async (t) => {
    const settings = await makeScheduled(t, ['verify: "* * * * *"']);
    await writeFile(join(settings.backup.root, '.state'), 'a file where a directory should be');
    const minute = START + 60_000;
    const ran = await runOver(settings, [START, minute, minute + 1, minute + 2, minute + 3]);
    assert.equal(ran.length, 1);
  });

  it('ends with its signal, also during a job, which the next scheduler repeats', async (t) => {
    const settings = await makeScheduled(t, ['retention: "* * * * *"', 'hooks: { before: [sleep, "60"] }']);
    const state = settings.backup.root;
    await putJobRecord(state, 'retention', {
      done: ['2026-01-01T00:00:00.000Z'],
      expectedBy: '2026-01-02T00:00:00.000Z',
    });
    const end = new AbortController();
    const options = procedureOptions({ signal: end.signal });
    const running = runSchedule(settings, { ...options, env: { PATH: process.env['PATH'] } });
    await waitUntil('the job begins', () => options.reported.notes.some((note) => note.includes('begins')));
    end.abort();
    await running;
    const record = await findJobRecord(state, 'retention');
    assert.deepEqual(
      [record?.done, record?.last, record?.begun],
      [['2026-01-01T00:00:00.000Z'], undefined, undefined],
    );
  });

  it('does not repeat a job during which the scheduler was killed three times', async (t) => {
    const settings = await makeScheduled(t, ['retention: "0 2 * * *"']);
    const begun = (count: number) =>
      putJobRecord(settings.backup.root, 'retention', {
        done: ['2026-11-25T02:00:00.000Z'],
        expectedBy: '2026-11-26T03:00:00.000Z',
        begun: { due: '2026-11-26T02:00:00.000Z', count },
      });
    const due = Date.parse('2026-11-26T02:00:00Z');
    await begun(2);
    await runOver(settings, [due]);
    assert.equal((await findJobRecord(settings.backup.root, 'retention'))?.last?.outcome, 'good');
    await begun(3);
    await runOver(settings, [due]);
    const record = await findJobRecord(settings.backup.root, 'retention');
    assert.equal(record?.last?.outcome, 'failed');
    assert.match(record?.last?.message ?? '', /was killed 3 times during the job planned for 2026-11-26T02/);
    assert.deepEqual(record?.begun, undefined);
  });

  it('waits for an operator who holds the lock of the backup root', async (t) => {
    const settings = await makeScheduled(t, ['retention: "0 2 * * *"']);
    assert.equal((await runNow(settings, 'retention')).jobs[0]?.run.outcome, 'good');
    const lock = await acquireLock(join(settings.backup.root, '.lock'), {
      mode: 'exclusive',
      record: { command: 'backup' },
    });
    const options = procedureOptions();
    const wait = async () => lock.release();
    const { jobs } = await runScheduleOnce(settings, { ...options, env: {}, job: 'retention', wait }, 'now');
    assert.equal(jobs[0]?.run.outcome, 'good');
    assert.match(options.reported.notes.join('\n'), /^retention waits: .* is held by backup, process/m);
  });
});

describe('the mirror job', () => {
  it('copies the root, and fails for a target that cannot be written', async (t) => {
    const settings = await makeScheduled(t, ['mirror: "0 2 * * *"']);
    assert.equal((await runNow(await makeScheduled(t, ['retention: "@daily"']), 'retention')).jobs.length, 1);
    const mirror = await makeDirectory(t, 'mirror');
    const backup = { ...settings.backup, mirror: join(mirror, 'copy') };
    // The job runs as a process of its own, which reads the settings again.
    const yaml = await readFile(join(settings.dir, 'idkit.yaml'), 'utf8');
    const configure = (target: string) =>
      writeFile(join(settings.dir, 'idkit.yaml'), `${yaml}backup: { mirror: ${target} }\n`);
    await configure(backup.mirror);
    await putJobRecord(settings.backup.root, 'other', { done: [], expectedBy: '2026-01-02T00:00:00.000Z' });
    assert.equal((await runNow({ ...settings, backup }, 'mirror')).jobs[0]?.run.outcome, 'good');
    await writeFile(join(mirror, 'file'), '');
    const bad = { ...backup, mirror: join(mirror, 'file/copy') };
    await configure(bad.mirror);
    const { jobs } = await runNow({ ...settings, backup: bad }, 'mirror');
    assert.deepEqual([jobs[0]?.run.exitCode, jobs[0]?.run.outcome], [1, 'failed']);
  });
});

describe('pings', () => {
  it('are sent at the start and at the end, with the name of the job, and with the log after a finding', async (t) => {
    const { url, pings } = await startMonitor(t);
    const settings = await makeScheduled(t, [
      'retention: "0 2 * * *"',
      'verify: "0 4 * * *"',
      `pings: { start: "${url}/{job}/start", success: "${url}/{job}/ok", failure: "${url}/{job}/failed" }`,
    ]);
    const good = await runNow(settings, 'retention');
    const { findings, jobs } = await runNow(settings, 'verify');
    assert.deepEqual(
      pings.map(({ path }) => path),
      ['POST /retention/start', 'POST /retention/ok', 'POST /verify/start', 'POST /verify/failed'],
    );
    assert.deepEqual(
      pings.slice(0, 3).map(({ body }) => body),
      ['', '', ''],
    );
    assert.match(pings[3]!.body, /^finding: .*no backup set/m);
    assert.deepEqual([good.findings.length, findings.length, jobs[0]?.run.exitCode], [0, 1, 3]);
  });

  it('that fail, hang or lead elsewhere change no result, and no note has their URL', async (t) => {
    const statuses = [302, 404];
    for (const status of statuses) {
      const { url, pings } = await startMonitor(t, () => status);
      const settings = await makeScheduled(t, [
        'retention: "@daily"',
        `pings: { success: "${url}/hidden-part" }`,
      ]);
      const { jobs, notes } = await runNow(settings, 'retention');
      assert.equal(jobs[0]?.run.outcome, 'good');
      assert.equal(pings.length, 1, 'a redirect is not followed');
      assert.match(
        notes.at(-1)!,
        new RegExp(`^schedule\\.pings\\.success failed: it responded with the status ${status}$`),
      );
    }
    const closed = await freePort();
    const settings = await makeScheduled(t, [
      'retention: "@daily"',
      `pings: { success: "http://127.0.0.1:${closed}/hidden-part" }`,
    ]);
    const { jobs, notes } = await runNow(settings, 'retention');
    assert.equal(jobs[0]?.run.outcome, 'good');
    assert.equal(notes.at(-1), 'schedule.pings.success failed: ECONNREFUSED');
  });

  it('are tried again after a fault of the monitoring service', async (t) => {
    const { url, pings } = await startMonitor(t, () => (pings.length < 3 ? 503 : 200));
    const settings = await makeScheduled(t, ['retention: "@daily"', `pings: { success: "${url}/" }`]);
    const options = procedureOptions();
    await runScheduleOnce(settings, { ...options, env: {}, job: 'retention', pingPauses: [1, 1] }, 'now');
    assert.equal(pings.length, 3);
    assert.doesNotMatch(options.reported.notes.join('\n'), /pings/);
  });

  it('contain no secret of the platform, even if a hook prints it', async (t) => {
    const { url, pings } = await startMonitor(t);
    const settings = await makeScheduled(t, [
      'verify: "0 4 * * *"',
      'hooks: { before: [cat, .env, pass, idkit.yaml] }',
      `pings: { failure: "${url}/hidden-part" }`,
    ]);
    const passphraseFile = join(settings.dir, 'pass');
    await writeFile(passphraseFile, 'correct horse battery staple\n');
    await chmod(passphraseFile, 0o600);
    const env = { PATH: process.env['PATH'], IDKIT_BACKUP_PASSPHRASE_FILE: passphraseFile };
    const { notes } = await runNow(settings, 'verify', env);
    const { body } = pings[0]!;
    assert.match(body, /IDKIT_MASTER_KEY="?\[secret\]/);
    const secrets = (await readFile(join(settings.dir, '.env'), 'utf8'))
      .split('\n')
      .flatMap((line) => /^IDKIT_\w*(?:PASSWORD|KEY|SECRET)="?([^"]+)/.exec(line)?.[1] ?? []);
    assert.ok(secrets.length >= 3);
    for (const secret of [...secrets, 'correct horse battery staple', 'hidden-part'])
      assert.ok(!body.includes(secret) && !notes.join('\n').includes(secret), `it contains ${secret}`);
  });

  it('have at most 100,000 bytes of the end of the log', () => {
    const log = openLogTail(['a secret across 4000']);
    for (let line = 0; line < 20_000; line++) log.add(`line ${line} ${'é'.repeat(40)}`);
    const text = log.text();
    assert.ok(
      Buffer.byteLength(text) <= MOST_POSTED_BYTES && Buffer.byteLength(text) > MOST_POSTED_BYTES - 200,
    );
    assert.match(text, /line 19999 é+\n$/);
    log.add(`${'x'.repeat(3990)}a secret across 4000`);
    assert.ok(!log.text().includes('a secret'));
    log.add('postgres://idkit:pw123@db/idkit');
    assert.match(log.text(), /postgres:\/\/idkit:\[secret\]@db\/idkit\n$/);
  });
});

describe('hooks', () => {
  it('get the job and its result, but no other variable of the scheduler', async (t) => {
    const settings = await makeScheduled(t, [
      'verify: "0 4 * * *"',
      'hooks: { before: [sh, -c, "env | sort > before"], failure: [sh, -c, "env | sort > failure"], after: [sh, -c, "env | sort > after"] }',
    ]);
    const env = {
      PATH: process.env['PATH'],
      IDKIT_BACKUP_PASSPHRASE: 'a passphrase',
      AWS_SECRET_ACCESS_KEY: 'x',
    };
    await runNow(settings, 'verify', env);
    const names = async (file: string) =>
      (await readFile(join(settings.dir, file), 'utf8'))
        .split('\n')
        .map((line) => line.replace(/(DUE|PATH|PWD|OLDPWD|SHLVL|_)=.*/, '$1'))
        .filter((line) => !/^(PWD|OLDPWD|SHLVL|_)?$/.test(line));
    assert.deepEqual(await names('before'), ['IDKIT_JOB=verify', 'IDKIT_JOB_DUE', 'PATH']);
    const ended = [
      'IDKIT_JOB=verify',
      'IDKIT_JOB_DUE',
      'IDKIT_JOB_EXIT_CODE=3',
      'IDKIT_JOB_OUTCOME=findings',
      'PATH',
    ];
    assert.deepEqual(await names('failure'), ended);
    assert.deepEqual(await names('after'), ended);
  });

  it('are ended at their limit with every program that they started, and change no result', async (t) => {
    const settings = await makeScheduled(t, [
      'retention: "0 2 * * *"',
      `hooks: { before: [sh, -c, "sleep 300 & echo $! > child; echo $$ > own; wait; sleep 300"], after: ["false"], seconds: 1 }`,
    ]);
    const { jobs, notes } = await runNow(settings, 'retention', { PATH: process.env['PATH'] });
    assert.equal(jobs[0]?.run.exitCode, 0);
    assert.ok(notes.includes('schedule.hooks.before failed: it ran longer than 1 s'), notes.join('\n'));
    assert.ok(notes.includes('schedule.hooks.after failed: it ended with the exit code 1'), notes.join('\n'));
    for (const file of ['own', 'child']) {
      const pid = Number(await readFile(join(settings.dir, file), 'utf8'));
      await waitUntil(`${file} has ended`, () => !isAlive(pid), { seconds: 10 });
    }
  });

  it('are killed if they ignore SIGTERM', async (t) => {
    const dir = await makeDirectory(t, 'hook');
    const why = await runHook({
      words: ['sh', '-c', "trap '' TERM; echo $$ > own; sleep 300; sleep 300"],
      facts: {},
      dir,
      seconds: 1,
      env: { PATH: process.env['PATH'] },
      onLine: () => undefined,
      signal: new AbortController().signal,
      lastChance: 100,
    });
    assert.equal(why, 'it ran longer than 1 s');
    assert.ok(!isAlive(Number(await readFile(join(dir, 'own'), 'utf8'))));
  });

  it('that are not installed change no result', async (t) => {
    const settings = await makeScheduled(t, ['retention: "0 2 * * *"', 'hooks: { before: [/none/such] }']);
    const { jobs, notes } = await runNow(settings, 'retention');
    assert.equal(jobs[0]?.run.exitCode, 0);
    assert.ok(notes.includes('schedule.hooks.before failed: ENOENT'));
  });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
