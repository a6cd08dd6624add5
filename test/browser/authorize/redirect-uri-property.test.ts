import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { isSafeRedirect, matchesRedirects } from '../../../src/browser/index.ts';

/** Pieces of URLs that have confused parsers. */
const PIECES = [
  ...[
    'https://',
    'http://',
    'HTTPS://',
    'https:',
    'javascript:',
    '//',
    '/',
    '\\',
    '@',
    ':',
    '?',
    '#',
    '&',
    '=',
  ],
  ...[
    'web.example.test',
    'evil.test',
    'WEB.example.test',
    '.',
    '..',
    '%2e',
    '%2E%2e',
    '%252e',
    '%2f',
    '%5c',
    '%00',
  ],
  ...[
    '/app',
    '/app/',
    'app',
    'x',
    ';',
    '..;',
    '\t',
    '\n',
    '\r\n',
    ' ',
    'ä',
    '%',
    '%zz',
    '%c0%ae',
    '127.0.0.1',
    '8080',
  ],
];
const nasty = fc.array(fc.constantFrom(...PIECES), { maxLength: 12 }).map((pieces) => pieces.join(''));

describe('redirect URIs with random content', () => {
  it('accepts only redirect URIs that lead a browser to the registered origin and below the registered path', () => {
    const tail = fc.oneof(nasty, fc.string());
    const uri = fc.oneof(
      nasty,
      tail.map((text) => `https://web.example.test${text}`),
      tail.map((text) => `https://web.example.test/app${text}`),
      tail.map((text) => `https://web.example.test/app/${text}`),
    );
    fc.assert(
      fc.property(uri, (text) => {
        for (const pattern of ['https://web.example.test/app/*', 'https://web.example.test/app*']) {
          if (!matchesRedirects([pattern], text, 'https://id.example.test')) continue;
          const url = new URL(text);
          assert.equal(url.origin, 'https://web.example.test');
          assert.ok(url.pathname.startsWith('/app'), url.pathname);
          assert.equal(`${url.username}${url.password}${url.hash}`, '');
        }
      }),
      { numRuns: 5000 },
    );
  });

  it('never accepts a redirect URI on another host for a loopback pattern that allows any port', () => {
    const uri = nasty.map((text) => `http://127.0.0.1${text}`);
    fc.assert(
      fc.property(uri, (text) => {
        for (const pattern of ['http://127.0.0.1/*', 'http://127.0.0.1:*', 'http://127.0.0.1/app'])
          if (matchesRedirects([pattern], text, 'https://id.example.test'))
            assert.equal(new URL(text).hostname, '127.0.0.1');
      }),
      { numRuns: 5000 },
    );
  });

  it('never accepts a redirect URI that breaks a header or runs as a script', () => {
    fc.assert(
      fc.property(fc.oneof(nasty, fc.string()), (text) => {
        if (!isSafeRedirect(text)) return;
        assert.doesNotMatch(text, /[\s"<>\\#]/);
        assert.doesNotMatch(text, /^(?:javascript|data|vbscript|file|blob|about|view-source):/i);
      }),
      { numRuns: 5000 },
    );
  });
});
