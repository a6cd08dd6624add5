import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listenUrl } from '../../src/config/index.ts';

test('returns a URL that this machine can connect to', () => {
  const urls = ['127.0.0.1', '0.0.0.0', '::', '::1', '[::1]', 'localhost'].map((host) =>
    listenUrl({ host, port: 8080, tls: false }),
  );
  assert.deepEqual(urls, [
    'http://127.0.0.1:8080',
    'http://127.0.0.1:8080',
    'http://[::1]:8080',
    'http://[::1]:8080',
    'http://[::1]:8080',
    'http://localhost:8080',
  ]);
  assert.equal(listenUrl({ host: 'a.example', port: 443, tls: true }), 'https://a.example:443');
});
