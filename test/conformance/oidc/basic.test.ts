import { after, before, describe } from 'node:test';
import { type Platform, startPlatform } from './platform.ts';
import { rowsOfLogin } from './rows-of-login.ts';
import { rowsOfTokens } from './rows-of-tokens.ts';

let platform: Platform;
before(async () => {
  platform = await startPlatform();
});
after(() => platform.stop());

// Every row has browsers of its own, so none waits for another's pauses.
describe('the rows of Basic OP', { concurrency: 6 }, () => {
  rowsOfLogin(() => platform, 'query');
  rowsOfTokens(() => platform, 'query');
});
