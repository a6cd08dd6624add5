import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { Page } from 'playwright-core';
import { wait } from '../examples/shop.ts';
import { freePort } from '../free-port.ts';
import { launchBrowser, missingBrowser } from '../http/pages/chromium.ts';
import { startOtherProvider } from './other-provider.ts';

/** Serves a page that opens a session and shows the name of its state as the title. */
async function servePage(t: TestContext, port: number, issuer: string): Promise<void> {
  const resolveDir = fileURLToPath(new URL('../../', import.meta.url));
  const contents = `
    import { openBrowserSession } from 'idkit/client';
    const options = { issuer: '${issuer}', clientId: 'shop', redirectUri: location.origin + '/' };
    globalThis.session = openBrowserSession({ ...options, onChange: ({ name }) => (document.title = name) });
    await session.start();`;
  const built = await build({
    stdin: { contents, resolveDir },
    bundle: true,
    write: false,
    format: 'esm',
    conditions: ['idkit-source'],
  });
  const server = createServer((request, response) => {
    const script = request.url === '/app.js';
    response.setHeader('content-type', script ? 'text/javascript' : 'text/html');
    response.end(
      script ? built.outputFiles[0]!.text : '<!doctype html><script type="module" src="/app.js"></script>',
    );
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
}

const becomes = (page: Page, state: string): Promise<unknown> =>
  page.waitForFunction(`document.title === '${state}'`);

test('idkit/client works with another provider: login, renewal in five tabs, and logout', async (t) => {
  const missing = missingBrowser();
  if (missing !== undefined) return t.skip(missing);
  const port = await freePort();
  const url = `http://localhost:${port}/`;
  const provider = await startOtherProvider(t, url);
  await servePage(t, port, provider.issuer);
  const browser = await launchBrowser();
  t.after(() => browser.close());
  const context = await browser.newContext();
  const open = async (): Promise<Page> => {
    const page = await context.newPage();
    // Block the font that the login page loads from the internet.
    await page.route(/fonts\.googleapis\.com/, (route) => route.abort());
    await page.goto(url);
    return page;
  };
  const page = await open();
  await becomes(page, 'logged_out');
  await page.evaluate('void session.login()');
  await page.fill('[name=login]', 'alice');
  await page.fill('[name=password]', 'any');
  await page.click('button');
  await page.getByRole('button', { name: 'Continue' }).click();
  await becomes(page, 'logged_in');

  const pages = [page];
  // The tabs open one after another. A new tab waits only one second for replies, and four parallel tabs keep a small
  // machine busy.
  while (pages.length < 5) {
    const tab = await open();
    await becomes(tab, 'logged_in');
    pages.push(tab);
  }
  const tokens = await Promise.all(
    pages.map(async (tab) => {
      await wait(tab, 250_000);
      return tab.evaluate('session.accessToken()');
    }),
  );
  assert.equal(new Set(tokens).size, 1);
  assert.equal(provider.refreshes(), 1);
  await pages[1]!.evaluate('void session.logout()');
  await becomes(page, 'logged_out');
  await pages[1]!.waitForURL(/session\/end/);
  assert.deepEqual(provider.faults(), []);
});
