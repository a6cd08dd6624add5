import type { TestContext } from 'node:test';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { type ExampleRealm, startExampleRealm } from '../client/example-realm.ts';
import { freePort } from '../free-port.ts';
import { launchBrowser } from '../http/pages/chromium.ts';
import { type RunningExample, runExample } from './run-example.ts';

/** The example of a single-page application with its API, in a browser with an empty profile. */
export interface Shop {
  realm: ExampleRealm;
  url: string;
  application: RunningExample;
  browser: Browser;
  context: BrowserContext;
  /** Opens a new tab of the shop. */
  open(): Promise<Page>;
}

export async function startShop(t: TestContext): Promise<Shop> {
  const port = await freePort();
  const realm = await startExampleRealm(t, (text) => text.replaceAll('localhost:3000', `localhost:${port}`));
  const url = `http://localhost:${port}/`;
  const env = { BASE_URL: realm.address, CONDITIONS: 'idkit-source' };
  const api = runExample(t, 'protected-api.js', { ...env, PORT: '0', APP_ORIGIN: new URL(url).origin });
  const [, API] = await api.printed(/protected API on (\S+)/);
  const application = runExample(t, 'single-page/serve.js', { ...env, API: API!, PORT: String(port) });
  await application.printed(/the shop is on/);
  const browser = await launchBrowser();
  t.after(() => browser.close());
  const context = await browser.newContext();
  return {
    realm,
    url,
    application,
    browser,
    context,
    async open() {
      const page = await context.newPage();
      await page.goto(url);
      return page;
    },
  };
}

/** Fills in and submits the login page. */
export async function fillLogin(page: Page, username = 'alice'): Promise<void> {
  await page.waitForSelector('#kc-form-login');
  await page.fill('#username', username);
  await page.fill('#password', `change-me-${username}`);
  await page.click('#kc-login');
}

/** Resolves when the shop shows this text as its state. */
export async function shows(page: Page, text: string): Promise<void> {
  await page.getByRole('status').filter({ hasText: text }).waitFor();
}

/** Advances the clock of the page. */
export async function wait(page: Page, milliseconds: number): Promise<void> {
  await page.evaluate(`{
    const now = Date.now.bind(Date);
    Date.now = () => now() + ${milliseconds};
  }`);
}
