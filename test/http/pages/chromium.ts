import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const EXECUTABLE = '/usr/bin/chromium';
/** Nothing of the browser's own reaches out while a test runs. */
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

/** Why there is no browser to test with; undefined where there is one. */
export function missingBrowser(): string | undefined {
  if (existsSync(EXECUTABLE)) return undefined;
  assert.notEqual(
    process.env['IDKIT_TEST_REQUIRE_ALL'],
    '1',
    'chromium is missing, and every component is required',
  );
  return 'needs chromium';
}

/** A browser with an empty profile. */
export function launchBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: EXECUTABLE, args: FLAGS });
}
