import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';

const EXECUTABLE = '/usr/bin/chromium';
/** Flags for a browser that has no window and sends only the requests of its pages. */
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Returns the reason why tests cannot use a browser, or undefined if they can. */
export function missingBrowser(): string | undefined {
  if (existsSync(EXECUTABLE)) return undefined;
  assert.notEqual(
    process.env['IDKIT_TEST_REQUIRE_ALL'],
    '1',
    'chromium is missing, but IDKIT_TEST_REQUIRE_ALL requires every component',
  );
  return 'needs chromium';
}

/** Starts a browser with an empty profile. @param flags further flags of Chromium */
export function launchBrowser(flags: readonly string[] = []): Promise<Browser> {
  return chromium.launch({ executablePath: EXECUTABLE, args: [...FLAGS, ...flags] });
}

/**
 * Collects what the browser writes to the console of a page, each message with the address of the page. Left out is the
 * message that a field was filled before the browser focused the field with `autofocus`: tests are faster than people.
 */
export function collectMessages(page: Page): string[] {
  const messages: string[] = [];
  page.on('console', (message) => {
    const text = message.text();
    if (!text.startsWith('Autofocus processing was blocked')) messages.push(`${page.url()}: ${text}`);
  });
  return messages;
}
