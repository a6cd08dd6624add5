import assert from 'node:assert/strict';
import { PassThrough, Writable } from 'node:stream';
import { after, before, type TestContext, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { freePort } from '../../free-port.ts';
import { openPage } from '../../http/browser/acme.ts';
import { CookieJar } from '../../http/browser/cookie-jar.ts';
import { launchBrowser, missingBrowser } from '../../http/pages/chromium.ts';
import { find } from '../../http/pages/read-page.ts';
import { form, SECRETS, startTestService, type TestService } from '../../http/service.ts';
import { loadRunCli } from '../../program.ts';
import { waitUntil } from '../../wait-until.ts';
import { makeDirectory, run } from '../run.ts';

// `idkit login` with a browser. The client is the one that the program advises to create.

const skip = missingBrowser();
const runCli = await loadRunCli();

let service: TestService;
let browser: Browser;
before(async () => {
  if (skip !== undefined) return;
  service = await startTestService();
  browser = await launchBrowser();
  const home = { HOME: service.platform.dir };
  const asked = await run(['login', service.address, '--browser'], { env: home });
  const advice = /hint: .*create the client: idkit (.*)/.exec(asked.stderr)?.[1] ?? '';
  const argv = [...advice.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
  const made = await run(argv, { cwd: service.platform.dir });
  assert.equal(made.code, 0, made.stderr + advice);
});
after(async () => {
  await browser?.close();
  await service?.stop();
});

/** Logs in on the login page. */
async function logInAt(url: string): Promise<{ text: string; address: string }> {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(url);
  await page.fill('#username', SECRETS.IDKIT_ADMIN_USERNAME);
  await page.fill('#password', SECRETS.IDKIT_ADMIN_PASSWORD);
  await page.click('#kc-login');
  await page.waitForURL('http://127.0.0.1:*/callback?**').catch(() => {});
  const result = { text: await page.innerText('body').catch(() => ''), address: page.url() };
  await context.close();
  return result;
}

/** Starts a login and returns the address of the login page, and the end of the command. */
async function startLogin(t: TestContext, argv: readonly string[] = []) {
  const home = makeDirectory(t);
  let output = '';
  const ended = run(['login', service.address, '--browser', '--no-open', '--profile', 'here', ...argv], {
    cwd: home,
    env: { HOME: home },
    onOutput: (text) => {
      output += text;
    },
  });
  const url = await waitUntil('the login prints its address', () => /^ {2}(http\S+)$/m.exec(output)?.[1]);
  return { home, url, ended };
}

test('a person logs in with the browser, and admin commands use the session', { skip }, async (t) => {
  const { home, url, ended } = await startLogin(t);
  const { searchParams } = new URL(url);
  assert.equal(searchParams.get('code_challenge_method'), 'S256');
  assert.match(searchParams.get('redirect_uri') ?? '', /^http:\/\/127\.0\.0\.1:\d+\/callback$/);
  const page = await logInAt(url);
  assert.match(page.text, /You are logged in\s+idkit now has a session of admin\. Close this window/);
  const { code, stderr, stdout } = await ended;
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^logged in to http\S+ as admin of realm master \(profile here\)$/m);
  const count = await run(['admin', 'user', 'count', '--realm', 'master'], {
    cwd: home,
    env: { HOME: home },
  });
  assert.deepEqual([count.code, count.stdout], [0, '1\n'], count.stderr);
  const out = await run(['logout'], { cwd: home, env: { HOME: home } });
  assert.equal(out.code, 0, out.stderr);
});

test('a request with another state changes nothing, so a page cannot complete or break the login', {
  skip,
}, async (t) => {
  const { url, ended } = await startLogin(t);
  const redirectUri = new URL(url).searchParams.get('redirect_uri') ?? '';
  for (const [path, status] of [
    [`${redirectUri}?state=wrong&code=stolen`, 400],
    [redirectUri, 400],
    [new URL('/other', redirectUri).href, 404],
  ] as const) {
    const response = await fetch(path);
    assert.equal(response.status, status, path);
    assert.match(response.headers.get('content-security-policy') ?? '', /default-src 'none'/);
  }
  await logInAt(url);
  assert.equal((await ended).code, 0);
});

test('a cancelled or failed login ends with exit code 12 and says so in both places', { skip }, async (t) => {
  const { url, ended } = await startLogin(t);
  const { searchParams } = new URL(url);
  const redirect = new URL(searchParams.get('redirect_uri') ?? '');
  redirect.searchParams.set('state', searchParams.get('state') ?? '');
  redirect.searchParams.set('iss', `${service.address}/realms/master`);
  redirect.searchParams.set('error', 'access_denied');
  const page = await (await fetch(redirect)).text();
  assert.match(page, /The login failed/);
  const { code, stderr } = await ended;
  assert.deepEqual([code, /the login was cancelled in the browser/.test(stderr)], [12, true], stderr);
});

test('an address that a person pastes completes the login, for a browser on another machine', {
  skip,
}, async (t) => {
  const home = makeDirectory(t);
  let shown = '';
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode() {} });
  const collect = () =>
    new Writable({
      write(chunk, _, done) {
        shown += String(chunk);
        done();
      },
    });
  const port = await freePort();
  const ended = runCli(['login', service.address, '--no-open', '--profile', 'ssh', '--port', String(port)], {
    terminal: { stdin, stdout: collect(), stderr: collect(), canAsk: true },
    env: { HOME: home },
    cwd: home,
    interrupt: new AbortController(),
  });
  const url = await waitUntil('the login prints its address', () => /^ {2}(http\S+)$/m.exec(shown)?.[1]);
  await waitUntil('the login prompts', () => shown.includes('paste the address of its last page here'));
  stdin.write('https://somewhere.example/callback?code=x\r');
  await waitUntil('the wrong address is rejected', () => shown.includes('must begin with http://127.0.0.1'));
  // The browser is on another machine, so its request to the loopback address never arrives here.
  const jar = new CookieJar();
  const page = await (await openPage(service, jar, url)).text();
  const { action = '' } = find(page, '#kc-form-login').attributes;
  const username = SECRETS.IDKIT_ADMIN_USERNAME;
  const sent = await jar.fetch(action, form({ username, password: SECRETS.IDKIT_ADMIN_PASSWORD }));
  const address = sent.headers.get('location') ?? '';
  assert.ok(address.startsWith(`http://127.0.0.1:${port}/callback?`), address);
  stdin.write(`${address}\r`);
  assert.equal(await ended, 0, shown);
  assert.ok(!shown.includes(new URL(address).searchParams.get('code') ?? 'none'), 'the code is not echoed');
});

test('a client that may not redirect to this machine is reported before a browser opens', {
  skip,
}, async (t) => {
  const home = makeDirectory(t);
  const ran = await run(['login', service.address, '--browser', '--client-id', 'security-admin-console'], {
    cwd: home,
    env: { HOME: home },
  });
  assert.equal(ran.code, 12);
  assert.match(ran.stderr, /no client security-admin-console that may log in by browser on this machine/);
  assert.doesNotMatch(ran.stderr, /Log in at this address/);
});

test('a login at another address than the public one names the public address', { skip }, async (t) => {
  const other = await startTestService({ flags: { baseUrl: 'https://login.example.test' } });
  t.after(() => other.stop());
  const home = makeDirectory(t);
  const ran = await run(['login', other.address, '--browser'], { cwd: home, env: { HOME: home } });
  assert.equal(ran.code, 1);
  assert.match(
    ran.stderr,
    /has the public address https:\/\/login\.example\.test\/realms\/master\nhint: log in at that address: idkit login https:/,
  );
});
