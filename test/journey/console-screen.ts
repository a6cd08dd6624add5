import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { findViolations } from '../http/pages/find-violations.ts';

/** The directory for screenshots. Default: no screenshots. */
const SHOTS = process.env['IDKIT_TEST_SHOTS'];

const LOOKS = [
  { name: 'light', colorScheme: 'light', width: 1280 },
  { name: 'dark', colorScheme: 'dark', width: 1280 },
  { name: 'phone', colorScheme: 'light', width: 390 },
  { name: 'phone-dark', colorScheme: 'dark', width: 390 },
] as const;

/** Waits until the page is drawn and its animations have finished, because axe reads the current colours. */
const SETTLED = `new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))).then(() =>
  Promise.all(document.getAnimations().map((one) => one.finished.catch(() => undefined))))`;

/** Checks that the page is accessible in light and dark mode, and that a phone does not have to scroll it sideways. */
export async function checkScreen(page: Page, name: string): Promise<void> {
  for (const { name: look, colorScheme, width } of LOOKS) {
    await page.setViewportSize({ width, height: 800 });
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.evaluate(SETTLED);
    if (SHOTS !== undefined) await shoot(page, `${SHOTS}/console-${name}-${look}`, width);
    if (width !== 390) assert.deepEqual(await findViolations(page), [], `${name}, ${look}`);
    assert.equal(
      await page.evaluate('document.documentElement.scrollWidth > innerWidth'),
      false,
      `${name}, ${look}`,
    );
  }
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
}

/** Saves a screenshot of what a window shows, and one of the whole screen, which scrolls inside the window. */
async function shoot(page: Page, file: string, width: number): Promise<void> {
  await page.screenshot({ path: `${file}.png` });
  await page.setViewportSize({ width, height: 2000 });
  await page.evaluate(SETTLED);
  await page.screenshot({ path: `${file}-whole.png` });
  await page.setViewportSize({ width, height: 800 });
  await page.evaluate(SETTLED);
}

/** Collects what the browser reports about a page: script errors, policy violations and failed requests. */
export function collectComplaints(page: Page): string[] {
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  return complaints;
}

/** Signs out with the menu of the user. */
export async function signOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Menu of / }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
}

/** Logs in to the console as the administrator of the platform. The page shows the login form. */
export async function logInToConsole(page: Page, password: string, username = 'admin'): Promise<void> {
  await page.fill('#username', username);
  await page.fill('#password', password);
  await page.click('#kc-login');
}
