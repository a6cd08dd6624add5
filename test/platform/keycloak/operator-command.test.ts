import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import fc from 'fast-check';
import { loadSettings, type Settings } from '../../../src/config/index.ts';
import { parseCommandWords } from '../../../src/platform/keycloak/command-words.ts';
import { runOperatorCommand } from '../../../src/platform/keycloak/operator-command.ts';
import { openPlatform } from '../../../src/platform/open.ts';
import { startService } from '../../../src/service/index.ts';
import { waitUntil } from '../../wait-until.ts';

const words = (text: string) => parseCommandWords(text, 'keycloak.start');

it('splits keycloak.start and keycloak.stop at spaces, with the quotes and backslashes of a shell', () => {
  assert.deepEqual(words('systemctl start keycloak'), ['systemctl', 'start', 'keycloak']);
  assert.deepEqual(words(`  /opt/kc/bin/kc.sh\tstart  --name='two words' --x="a \\"b\\""c `), [
    '/opt/kc/bin/kc.sh',
    'start',
    '--name=two words',
    '--x=a "b"c',
  ]);
  assert.deepEqual(words(String.raw`/opt/with\ blank/kc a\$b ''`), ['/opt/with blank/kc', 'a$b', '']);
  assert.deepEqual(words(`sh -c 'cd /opt && ./start > log 2>&1 &'`), [
    'sh',
    '-c',
    'cd /opt && ./start > log 2>&1 &',
  ]);
});

it('returns words in single quotes unchanged', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.string().filter((text) => !text.includes("'")),
        { minLength: 1 },
      ),
      (list) => {
        const text = `run ${list.map((word) => `'${word}'`).join(' ')}`;
        assert.deepEqual(words(text), ['run', ...list]);
      },
    ),
  );
});

it('rejects shell syntax outside quotes, and the error names it', () => {
  for (const [text, sign] of [
    ['kc start > log', '>'],
    ['kc start &', '&'],
    ['a; b', ';'],
    ['a | b', '|'],
    ['a $HOME', '$'],
    ['a `b`', '`'],
    ['rm *', '*'],
    ['~/kc start', '~'],
    ['a # b', '#'],
    ['a "$HOME"', '$'],
    ['a\nb', 'line end'],
  ] as const)
    assert.throws(
      () => words(text),
      (error: { code?: string; message: string }) => {
        assert.equal(error.code, 'IDKIT_SETTING');
        assert.ok(error.message.startsWith('keycloak.start '), error.message);
        assert.ok(error.message.includes(sign), error.message);
        return true;
      },
    );
  for (const text of ['', '  ', "''", 'a "b', "a 'b", 'a \\', 'KC_X=1 kc start'])
    assert.throws(() => words(text), { code: 'IDKIT_SETTING' }, text);
});

it('a command receives .env and the current credentials under Keycloak’s names, but none of idkit’s variables', async (t) => {
  const settings = await makeSettings(t, [
    'IDKIT_ADMIN_USERNAME=root',
    'IDKIT_ADMIN_PASSWORD=Admin-1',
    'IDKIT_DATABASE_PASSWORD=Db-1',
    'OTHER=kept',
  ]);
  await runOperatorCommand(settings, 'start', 'env').ended;
  const seen = readFileSync(join(settings.dir, 'data', 'keycloak-start.log'), 'utf8').split('\n');
  for (const line of [
    'KC_DB_PASSWORD=Db-1',
    'KC_BOOTSTRAP_ADMIN_USERNAME=root',
    'KC_BOOTSTRAP_ADMIN_PASSWORD=Admin-1',
    'OTHER=kept',
  ])
    assert.ok(seen.includes(line), line);
  assert.deepEqual(
    seen.filter((line) => line.startsWith('IDKIT_')),
    [],
  );
});

it('a variable of Keycloak in .env takes precedence over idkit’s credentials', async (t) => {
  const settings = await makeSettings(t, ['IDKIT_DATABASE_PASSWORD=Db-1', 'KC_DB_PASSWORD=Db-2']);
  await runOperatorCommand(settings, 'start', 'env').ended;
  const seen = readFileSync(join(settings.dir, 'data', 'keycloak-start.log'), 'utf8');
  assert.match(seen, /^KC_DB_PASSWORD=Db-2$/m);
});

it('reports the exit code and the last lines of a failed command, and exits with 14 if the program is missing', async (t) => {
  const settings = await makeSettings(t);
  await assert.rejects(
    runOperatorCommand(settings, 'stop', `sh -c 'echo no such unit >&2; exit 5'`).ended,
    (error: { code: string; message: string; hints: string[] }) => {
      assert.equal(error.code, 'IDKIT_FAILED');
      assert.equal(error.message, 'keycloak.stop ended with exit code 5');
      assert.ok(error.hints.includes('no such unit'));
      return true;
    },
  );
  await assert.rejects(runOperatorCommand(settings, 'start', './no-such-program').ended, {
    code: 'IDKIT_VERSION',
  });
});

it('stops waiting if the start command fails, and rejects with IDKIT_SETTING a command that it cannot parse', async (t) => {
  const settings = await makeSettings(t);
  const start = async (command: string | null) => {
    const keycloak = { ...settings.keycloak, start: command };
    await (await openPlatform({ ...settings, keycloak })).service.start();
  };
  await assert.rejects(start('false'), { code: 'IDKIT_FAILED' });
  await assert.rejects(start('kc start &'), { code: 'IDKIT_SETTING' });
  await assert.rejects(start(null), { code: 'IDKIT_UNREACHABLE' });
});

it('a start command may run in the foreground and outlive idkit', async (t) => {
  const settings = await makeSettings(t);
  const mark = join(settings.dir, 'mark');
  const command = runOperatorCommand(settings, 'start', `sh -c 'sleep 0.3; echo on > "${mark}"; sleep 60'`);
  command.release();
  await waitUntil('the command writes its mark', () => existsSync(mark));
  command.kill();
  await assert.rejects(command.ended, { message: 'keycloak.start was ended by SIGTERM' });
});

it('serve rejects a platform whose service is Keycloak (exit code 2)', async (t) => {
  await assert.rejects(startService(await makeSettings(t)), { code: 'IDKIT_SETTING' });
});

/** Creates a platform directory and returns its settings. Nothing listens at the service's address. */
async function makeSettings(t: TestContext, env: readonly string[] = []): Promise<Settings> {
  const dir = mkdtempSync(join(tmpdir(), 'idkit-keycloak-command-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  writeFileSync(join(dir, 'idkit.yaml'), 'service: keycloak\nlisten: { port: 1 }\n');
  writeFileSync(join(dir, '.env'), `${env.join('\n')}\n`, { mode: 0o600 });
  return loadSettings({ dir, env: {} });
}
