import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseServiceAddress } from '../../../src/cli/commands/login/service-address.ts';
import { IdkitError } from '../../../src/core/index.ts';

test('finds the base URL and the realm in an address as people copy it', () => {
  for (const [text, url, realm] of [
    ['https://login.example.org', 'https://login.example.org'],
    ['https://login.example.org/', 'https://login.example.org'],
    ['HTTPS://Login.example.org:8443/auth/', 'https://login.example.org:8443/auth'],
    ['https://a.example/admin/master/console/#/acme/users', 'https://a.example', 'master'],
    ['https://a.example/auth/realms/acme/account?x=1', 'https://a.example/auth', 'acme'],
    ['https://a.example/realms/a%20b', 'https://a.example', 'a b'],
    ['https://a.example/admin/realms/acme', 'https://a.example'],
    ['https://a.example/administration', 'https://a.example/administration'],
    ['login.example.org', 'https://login.example.org'],
    ['127.0.0.1:8080', 'http://127.0.0.1:8080'],
    ['localhost:8080/realms/acme', 'http://localhost:8080', 'acme'],
    ['[::1]:8080', 'http://[::1]:8080'],
    ['localhost.example.org', 'https://localhost.example.org'],
    ['127.0.0.1.example.org', 'https://127.0.0.1.example.org'],
  ] as const)
    assert.deepEqual(parseServiceAddress(text), realm === undefined ? { url } : { url, realm }, text);
});

test('rejects other schemes, credentials, spaces and broken encoding', () => {
  for (const text of [
    '',
    'ftp://a',
    'https://u:p@a',
    'https://a/ b',
    'https://a/realms/%ff',
    'https://a/realms/%',
  ])
    assert.throws(
      () => parseServiceAddress(text),
      (error) => error instanceof IdkitError && error.code === 'IDKIT_USAGE',
      text,
    );
});
