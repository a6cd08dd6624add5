import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { launchBrowser, missingBrowser } from '../http/pages/chromium.ts';
import { BIN, makePlace, runIdkit } from '../journey/idkit.ts';
import { missingPostgres, startPostgres } from '../store/postgres-server.ts';
import { waitUntil } from '../wait-until.ts';
import { KEYCLOAK_ADMIN, missingKeycloak, startKeycloak } from './keycloak-server.ts';

/** Timeout in milliseconds of a step in the browser. */
const PATIENCE = 120_000;

const skip = missingPostgres() ?? missingKeycloak() ?? missingBrowser() ?? false;

describe('logins and changes to many users on a real Keycloak 26', { skip }, () => {
  it('work as they do on idkit', async (t) => {
    const keycloak = await startKeycloak(t, await startPostgres(t));
    const browser = await launchBrowser();
    t.after(() => browser.close());
    const cwd = makePlace(t);
    const env = { HOME: cwd };
    const idkit = (argv: readonly string[], more: { stdin?: string; env?: NodeJS.ProcessEnv } = {}) =>
      runIdkit([...argv, '--timeout', '120'], { cwd, ...more, env: { ...env, ...more.env } });
    const succeed = async (argv: readonly string[], more: { stdin?: string } = {}) => {
      const ended = await idkit(argv, more);
      assert.equal(ended.code, 0, `${argv.join(' ')}: ${ended.stdout}${ended.stderr}`);
      return ended;
    };

    /** Starts a login as a person, and passes its output to `act` when that matches. */
    const logIn = async (argv: readonly string[], pattern: RegExp, act: (url: string) => Promise<void>) => {
      const child = spawn(process.execPath, [BIN, 'login', keycloak.baseUrl, ...argv], {
        cwd,
        env: { PATH: process.env['PATH'], ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      t.after(() => child.kill());
      let output = '';
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
      const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
      await act(
        await waitUntil('the login prints its address', () => pattern.exec(output)?.[1], {
          seen: () => output,
        }),
      );
      assert.equal(await ended, 0, output);
      return output;
    };

    let advice: readonly string[] = [];
    await t.test('without a client for the browser, the login says how to create it', async () => {
      const ran = await idkit(['login', keycloak.baseUrl, '--browser']);
      assert.equal(ran.code, 12, ran.stderr);
      const command = /then create the client: idkit (.*)/.exec(ran.stderr)?.[1] ?? '';
      advice = [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
    });

    await t.test('logs in with a password, and the advice creates the client', async () => {
      await succeed(['login', keycloak.baseUrl, '--password', '--username', KEYCLOAK_ADMIN.username], {
        stdin: `${KEYCLOAK_ADMIN.password}\n`,
      });
      await succeed(advice);
      assert.match((await succeed(['admin', 'realm', 'list'])).stdout, /master/);
    });

    await t.test('logs in with the browser', async () => {
      await logIn(['--browser', '--no-open', '--profile', 'web'], /^ {2}(http\S+)$/m, async (url) => {
        const page = await browser.newPage();
        page.setDefaultTimeout(PATIENCE);
        await page.goto(url);
        await page.fill('#username', KEYCLOAK_ADMIN.username);
        await page.fill('#password', KEYCLOAK_ADMIN.password);
        await page.click('#kc-login');
        await page.waitForURL('http://127.0.0.1:*/callback?**');
        assert.match(await page.innerText('body'), /You are logged in/);
        await page.close();
      });
      assert.match((await succeed(['admin', 'realm', 'list'])).stdout, /master/);
      await succeed(['logout']);
      assert.equal((await idkit(['admin', 'realm', 'list'])).code, 12);
    });

    await t.test('logs in with a device code, which Keycloak lists', async () => {
      await logIn(['--device', '--profile', 'device'], /or open (http\S+)/, async (url) => {
        const context = await browser.newContext();
        context.setDefaultTimeout(PATIENCE);
        const page = await context.newPage();
        await page.goto(url);
        await page.fill('#username', KEYCLOAK_ADMIN.username);
        await page.fill('#password', KEYCLOAK_ADMIN.password);
        await page.click('#kc-login');
        await page.click('[name=accept]');
        await page.waitForLoadState();
        await context.close();
      });
      assert.match((await succeed(['admin', 'realm', 'list'])).stdout, /master/);
    });

    await t.test('an offline session needs no renewal before its logout', async () => {
      await succeed(
        ['login', keycloak.baseUrl, '--password', '--username', 'admin', '--profile', 'offline', '--offline'],
        { stdin: `${KEYCLOAK_ADMIN.password}\n` },
      );
      assert.match(
        (await succeed(['profile', 'list'])).stdout,
        /offline .*(until the logout|expires in 30 d)/,
      );
      await succeed(['logout', '--profile', 'offline']);
    });

    await t.test('imports users, assigns roles and groups, and disables and deletes users', async () => {
      await succeed(['profile', 'use', `127.0.0.1-${keycloak.port}`]);
      await succeed(['admin', 'api', 'POST', '', '-f', 'realm=acme', '-F', 'enabled=true']);
      await succeed(['admin', 'api', 'POST', 'acme/roles', '-f', 'name=auditor']);
      await succeed(['admin', 'api', 'POST', 'acme/groups', '-f', 'name=sales']);
      const file = join(cwd, 'users.csv');
      const rows = Array.from({ length: 25 }, (_, n) => `user-${n},user-${n}@example.test,First,Last`);
      writeFileSync(file, ['username,email,firstName,lastName', ...rows].join('\n'));
      const realm = ['--realm', 'acme', '--json'];
      for (const [argv, counts] of [
        [['admin', 'user', 'import', file], { created: 25 }],
        [['admin', 'user', 'import', file], { unchanged: 25 }],
        [['admin', 'bulk', 'add-role', 'auditor', file], { added: 25 }],
        [['admin', 'bulk', 'add-role', 'auditor', file], { unchanged: 25 }],
        [['admin', 'bulk', 'add-group', '/sales', file], { added: 25 }],
        [['admin', 'bulk', 'add-group', '/sales', file], { unchanged: 25 }],
        [['admin', 'bulk', 'remove-role', 'auditor', file], { removed: 25 }],
        [['admin', 'bulk', 'disable', file], { disabled: 25 }],
        [['admin', 'bulk', 'disable', file], { unchanged: 25 }],
        [['admin', 'bulk', 'delete', file, '--yes'], { deleted: 25 }],
        [['admin', 'bulk', 'delete', file, '--yes'], { unchanged: 25 }],
      ] as const) {
        const ran = await succeed([...argv, ...realm]);
        assert.deepEqual(ran.result()['counts'], counts, argv.join(' '));
      }
    });

    await t.test('exit codes follow the status of the response', async () => {
      assert.equal((await idkit(['admin', 'api', 'GET', 'none'])).code, 10);
      assert.equal(
        (await idkit(['admin', 'api', 'POST', 'acme/users', '--file', '-'], { stdin: 'x' })).code,
        2,
      );
      assert.equal((await idkit(['admin', 'api', 'POST', '', '-f', 'realm=acme'])).code, 1);
    });
  });
});
