import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { linkSync, mkdtempSync, rmSync } from 'node:fs';
import { appendFile, cp, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, describe, it } from 'node:test';
import { checkSeal, openSet } from '../../../src/backupset/index.ts';
import { identifySqlite } from '../../../src/platform/embedded/identify.ts';
import { checkCredentials } from '../../../src/procedures/drill/check-credentials.ts';
import { checkApart, compareLive } from '../../../src/procedures/drill/live.ts';
import type { DrillResult } from '../../../src/procedures/drill/options.ts';
import { renderHtmlReport } from '../../../src/procedures/drill/render-html.ts';
import { backup, drill, listBackups } from '../../../src/procedures/index.ts';
import { makeDirectory, makePlatform, PASSPHRASE, procedureOptions } from '../platform.ts';

process.env['TMPDIR'] = mkdtempSync(join(tmpdir(), 'idkit-test-evidence-'));
after(() => rmSync(tmpdir(), { recursive: true, force: true }));

const options = () => ({ ...procedureOptions(), passphrase: PASSPHRASE, env: {} });
const checksOf = (result: DrillResult, id: string) => result.checks.filter((check) => check.id === id);

describe('the evidence of a drill', () => {
  it('compares hashes, logs in as the canary, and reports a sealed page that sha256sum and gpg check', async (t) => {
    const platform = await makePlatform(t);
    const { administrator } = await platform.load();
    const { username } = administrator;
    const password = administrator.password!.reveal();
    await writeFile(
      join(platform.dir, 'idkit.yaml'),
      `drill: { canary: [{ realm: master, username: ${username} }, { realm: master, username: missing }] }\n`,
    );
    await appendFile(join(platform.dir, '.env'), `IDKIT_CANARY_PASSWORD=${password}\n`);
    await (await platform.serve()).close();
    const settings = await platform.load();
    const set = await backup(settings, options());
    const result = await drill(settings, options());

    assert.equal(result.failure, undefined);
    const logins = checksOf(result, 'canary-login');
    assert.deepEqual(
      logins.map(({ title, outcome }) => [title, outcome]),
      [
        [`the canary user ${username} logs in`, 'passed'],
        ['the canary user missing logs in', 'failed'],
      ],
    );
    assert.deepEqual(
      result.findings.map(({ code }) => code),
      ['DRILL_CHECK_FAILED'],
    );
    assert.equal(result.outcome, 'failed');
    const [hashes] = checksOf(result, 'credentials');
    assert.deepEqual(
      [hashes?.outcome, hashes?.detail],
      ['passed', '1 credential, chosen at random from the dump'],
    );
    assert.deepEqual(
      checksOf(result, 'published-keys').map(({ detail }) => detail),
      ['the live service is not running'],
    );
    assert.equal(result.live.outcome, 'passed');
    assert.equal(result.live.before?.['database'], result.live.after?.['database']);
    assert.deepEqual([result.kind, result.place], ['embedded', 'a temporary SQLite file']);
    assert.deepEqual([result.source.set, result.source.seal], [set.dir, 'holds']);

    const { report } = result;
    assert.ok(report !== undefined);
    assert.deepEqual((await readdir(report.dir)).sort(), [
      'checksums.sha256',
      'report.html',
      'report.json',
      'seal.gpg',
    ]);
    execFileSync('sha256sum', ['--quiet', '-c', 'checksums.sha256'], { cwd: report.dir });
    const sealed = execFileSync(
      'gpg',
      [
        '--batch',
        '--quiet',
        '--pinentry-mode',
        'loopback',
        '--passphrase',
        PASSPHRASE.reveal(),
        '-d',
        'seal.gpg',
      ],
      { cwd: report.dir, stdio: ['ignore', 'pipe', 'ignore'] },
    );
    execFileSync('sha256sum', ['--quiet', '-c'], { cwd: report.dir, input: sealed });
    const held = async () => (await checkSeal(await openSet(report.dir), PASSPHRASE)).seal;
    assert.equal(await held(), 'holds');
    await appendFile(join(report.dir, 'checksums.sha256'), '# changed\n');
    assert.equal(await held(), 'broken');

    const html = await readFile(report.html, 'utf8');
    for (const part of [
      set.name,
      'Failed after',
      'the canary user missing logs in',
      '@media print',
      'Before',
    ])
      assert.ok(html.includes(part), part);
    assert.doesNotMatch(html, /<script|<link|<img|https?:\/\/(?!127\.0\.0\.1)/);
    const secrets = [password, PASSPHRASE.reveal(), settings.masterKey!.reveal()];
    const json = await readFile(report.json, 'utf8');
    for (const secret of secrets) assert.ok(!html.includes(secret) && !json.includes(secret));

    const listed = await listBackups(settings, options());
    assert.deepEqual(
      listed.drills.map(({ kind, outcome, set: name, report: file }) => [kind, outcome, name, file]),
      [['embedded', 'failed', set.name, report.html]],
    );
  });

  it('puts the report into --report-dir, and reports a failed drill and a slow one too', async (t) => {
    const platform = await makePlatform(t);
    await (await platform.serve()).close();
    const settings = await platform.load();
    const set = await backup(settings, options());
    const reportDir = join(await makeDirectory(t, 'reports'), 'a', 'b');
    const slow = await drill(settings, { ...options(), reportDir, limitMilliseconds: 1 });
    assert.deepEqual(
      slow.findings.map(({ code }) => code),
      ['DRILL_TOO_SLOW'],
    );
    assert.equal(slow.live.detail, 'the same database before and after, and nothing was written to it');
    await writeFile(join(set.dir, 'config.tar.gz'), 'x');
    const failed = await drill(settings, { ...options(), reportDir });
    assert.equal(failed.failure?.code, 'IDKIT_DAMAGED');
    assert.equal((await readdir(reportDir)).length, 2);
    const html = await readFile(failed.report!.html, 'utf8');
    assert.ok(html.includes('IDKIT_DAMAGED') && html.includes('config.tar.gz'));
  });

  it('finds a hash that differs from the set, and one that is missing', async (t) => {
    const file = join(await makeDirectory(t, 'hashes'), 'idkit.db');
    const { digestSqliteCredentials } = await import('../../../src/platform/embedded/identify.ts');
    const database = new DatabaseSync(file);
    database.exec(
      "CREATE TABLE credential (id, user_id, secret_data); INSERT INTO credential VALUES ('a', 'u', 'x'), ('b', 'u', 'y')",
    );
    database.close();
    const digests = digestSqliteCredentials(file, ['a', 'b']);
    const reader = {
      digestCredentials: async (ids: readonly string[]) => digestSqliteCredentials(file, ids),
    };
    const { signal } = new AbortController();
    const good = [...digests].map(([id, sha256]) => ({ id, sha256 }));
    assert.equal((await checkCredentials(reader, good, signal)).outcome, 'passed');
    const bad = [good[0]!, { id: 'b', sha256: good[0]!.sha256 }, { id: 'c', sha256: good[0]!.sha256 }];
    const check = await checkCredentials(reader, bad, signal);
    assert.deepEqual(
      [check.outcome, check.detail],
      ['failed', 'of 3 credentials, 1 are missing and 1 differ, for example c, b'],
    );
    assert.equal((await checkCredentials(reader, [], signal)).outcome, 'not-applicable');
  });
});

describe('the place of a drill is never the live database', () => {
  it('knows the live file by its inode through a symbolic link, a hard link and another spelling', async (t) => {
    const dir = await makeDirectory(t, 'identity');
    const live = join(dir, 'idkit.db');
    await writeFile(live, 'x');
    linkSync(live, join(dir, 'hard.db'));
    await symlink(dir, join(dir, 'link'));
    for (const place of [live, join(dir, 'hard.db'), join(dir, 'link', 'idkit.db'), `${dir}/./idkit.db`])
      assert.throws(
        () => checkApart(identifySqlite(live), identifySqlite(place), {}),
        { code: 'IDKIT_DRILL_LIVE' },
        place,
      );
    await cp(live, join(dir, 'copy.db'));
    checkApart(identifySqlite(live), identifySqlite(join(dir, 'copy.db')), {});
    checkApart(identifySqlite(live), identifySqlite(join(dir, 'absent.db')), {});
    checkApart(identifySqlite(join(dir, 'absent.db')), identifySqlite(join(dir, 'absent-too.db')), {});
  });

  it('reports a stopped database that changed, and another database at its place', () => {
    const view = (database: string, bytes: string, serving = false) => ({
      serving,
      identity: { server: 'device 1', database, state: { 'file bytes': bytes } },
    });
    const outcome = (...views: Parameters<typeof compareLive>) => compareLive(...views).outcome;
    assert.equal(outcome(view('inode 1', '10'), view('inode 1', '10')), 'passed');
    assert.equal(outcome(view('inode 1', '10'), view('inode 1', '11')), 'failed');
    assert.equal(outcome(view('inode 1', '10', true), view('inode 1', '11', true)), 'passed');
    assert.equal(outcome(view('inode 1', '10'), view('inode 2', '10')), 'failed');
    assert.equal(outcome({ serving: false, why: 'unreachable' }, view('inode 1', '10')), 'not checked');
  });
});

describe('renderHtmlReport', () => {
  it('shows hostile names of a set as text', () => {
    const hostile = `<script>alert(1)</script>"'&\u202e`;
    const html = renderHtmlReport({
      set: `/b/${hostile}`,
      kind: 'embedded',
      source: { set: `/b/${hostile}`, root: '/b', realms: [{ realm: hostile, users: 1 }], service: hostile },
      place: 'a temporary SQLite file',
      by: { host: hostile, idkitVersion: '1' },
      live: { outcome: 'passed', detail: hostile, before: { [hostile]: hostile }, after: {} },
      differences: [hostile],
      startedAt: '2026-11-25T00:00:00.000Z',
      outcome: 'failed',
      phases: [{ id: hostile, milliseconds: 1 }],
      milliseconds: 61_000,
      checklist: [{ id: 'a', title: hostile, outcome: 'failed', detail: hostile }],
      checks: [
        { id: 'a', title: hostile, subject: hostile, outcome: 'failed', detail: hostile, milliseconds: 1 },
      ],
      findings: [{ code: hostile, message: hostile }],
    });
    assert.ok(!html.includes('<script') && !html.includes('\u202e'));
    assert.ok(html.includes('&lt;script&gt;') && html.includes('1 min 1 s'));
  });
});
