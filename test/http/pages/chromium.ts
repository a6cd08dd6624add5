import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

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
