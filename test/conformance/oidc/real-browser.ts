import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { collectMessages } from '../../http/pages/chromium.ts';
import { PASSWORD } from './realm.ts';

/** A tab with an empty profile, and the messages on its console. */
export interface OpenPage {
  page: Page;
  problems: readonly string[];
  close(): Promise<void>;
}

/** Opens a tab that accepts the tests' certificate. */
export async function openPage(browser: Browser, options: BrowserContextOptions = {}): Promise<OpenPage> {
  const context = await browser.newContext({ ...options, ignoreHTTPSErrors: true });
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  const problems = collectMessages(page);
  page.on('pageerror', (error) => problems.push(error.message));
  // Browsers request an icon from every new site. A missing icon would appear as an error on the console.
  await context.route('**/favicon.ico', (route) => route.fulfill({ status: 204 }));
  return { page, problems, close: () => context.close() };
}

/** Logs alice in on the login page. */
export async function fillLogin(page: Page): Promise<void> {
  await page.fill('#username', 'alice');
  await page.fill('#password', PASSWORD);
  await page.click('#kc-login');
}
