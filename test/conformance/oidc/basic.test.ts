import { after, before, describe } from 'node:test';
import { type Platform, startPlatform } from './platform.ts';
import { rowsOfLogin } from './rows-of-login.ts';
import { rowsOfTokens } from './rows-of-tokens.ts';

let platform: Platform;
before(async () => {
  platform = await startPlatform();
});
after(() => platform.stop());

// Each test has its own browser session, so the tests can run in parallel.
describe('requirements of the profile Basic OP', { concurrency: 6 }, () => {
  rowsOfLogin(() => platform, 'query');
  rowsOfTokens(() => platform, 'query');
});
