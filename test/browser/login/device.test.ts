import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { deviceName } from '../../../src/browser/login/finish-login.ts';

test('names a browser and its operating system', () => {
  const webkit = 'AppleWebKit/537.36 (KHTML, like Gecko)';
  for (const [agent, device] of [
    ['Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0', 'Firefox 133, Linux'],
    [
      `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${webkit} Chrome/131.0.0.0 Safari/537.36`,
      'Chrome 131, Windows',
    ],
    [
      `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${webkit} Chrome/131.0.0.0 Safari/537.36 Edg/131.0.0.0`,
      'Edge 131, Windows',
    ],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1',
      'Safari 18, iPhone',
    ],
    [
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.6 Safari/605.1.15',
      'Safari 17, macOS',
    ],
    [
      `Mozilla/5.0 (Linux; Android 14; SM-S921B) ${webkit} SamsungBrowser/27.0 Chrome/125.0.0.0 Mobile Safari/537.36`,
      'Samsung Internet 27, Android',
    ],
    [
      `Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${webkit} Chrome/131.0.0.0 Safari/537.36`,
      'Chrome 131, ChromeOS',
    ],
    [`Mozilla/5.0 (X11; Linux x86_64) ${webkit} HeadlessChrome/131.0.0.0 Safari/537.36`, 'Chrome 131, Linux'],
    [
      `Mozilla/5.0 (X11; Linux x86_64) ${webkit} Chrome/131.0.0.0 Safari/537.36 OPR/116.0.0.0`,
      'Opera 116, Linux',
    ],
    ['curl/8.5.0', undefined],
    ['', undefined],
    [undefined, undefined],
  ] as const)
    assert.equal(deviceName(agent), device, String(agent));
});

test('stores only known names and a version number from the User-Agent header', () => {
  const noise = fc.string({ maxLength: 60 });
  fc.assert(
    fc.property(noise, noise, (before, after) => {
      for (const agent of [
        before,
        `${before} Firefox/12${after}`,
        `${before}(Windows NT 10) Chrome/9${after}`,
      ])
        assert.match(deviceName(agent) ?? '', /^([A-Za-z ]+( \d{1,4})?(, [A-Za-z]+)?)?$/);
    }),
  );
});
