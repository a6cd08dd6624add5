import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import { launchBrowser } from '../http/pages/chromium.ts';
import { collectComplaints, logInToConsole } from './console-screen.ts';
import { makePlace, post, readSecrets, runIdkit, type Service, startIdkit } from './idkit.ts';

/** A service with one realm, and a browser in which an administrator uses the console. */
export interface ConsolePlace {
  service: Service;
  page: Page;
  /** What the browser complained about. */
  complaints: readonly string[];
  /** Opens a screen of the realm, such as `users`. */
  open(screen: string): Promise<void>;
  button(name: string): ReturnType<Page['getByRole']>;
  dialog: ReturnType<Page['getByRole']>;
  /** Clicks a button of the dialog. */
  press(name: string): Promise<void>;
  /** Waits for a text. */
  says(text: string | RegExp): Promise<void>;
  /** Gets tokens of the realm with a form, and returns the status. */
  token(form: Readonly<Record<string, string>>): Promise<{ status: number; body: Record<string, unknown> }>;
}

/** Starts a service with the realm, and logs the first administrator in to the console. */
export async function openConsole(
  t: TestContext,
  realm: { readonly realm: string } & object,
): Promise<ConsolePlace> {
  const cwd = makePlace(t);
  await runIdkit(['init'], { cwd });
  writeFileSync(join(cwd, 'idkit', 'import', 'realm.json'), JSON.stringify(realm));
  const service = await startIdkit(t, { cwd });
  const browser = await launchBrowser();
  t.after(() => browser.close());
  const context = await browser.newContext({ reducedMotion: 'reduce' });
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  const complaints = collectComplaints(page);
  const root = `${service.address}/admin/master/console/#/${realm.realm}/`;
  await page.goto(`${root}users`);
  await logInToConsole(page, readSecrets(cwd)['IDKIT_ADMIN_PASSWORD']!);
  await page.getByRole('heading', { name: 'Users', level: 1 }).waitFor();
  const dialog = page.getByRole('dialog');
  return {
    service,
    page,
    complaints,
    open: async (screen) => {
      await page.goto(`${root}${screen}`);
    },
    button: (name) => page.getByRole('button', { name, exact: true }),
    dialog,
    // A dialog has a second button to close it, in its corner.
    press: (name) => dialog.getByRole('button', { name, exact: true }).last().click(),
    says: (text) => page.getByText(text).first().waitFor(),
    token: (form) => post(service.address, realm.realm, 'token', form),
  };
}
