import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applySettings } from '../../../../../src/cli/commands/admin/records/set-values.ts';

const set = (record: Record<string, unknown>, ...settings: readonly string[]) =>
  applySettings(record, settings, 'attributes');

test('--set rejects every field that holds a secret, because arguments are public', () => {
  for (const path of [
    'secret',
    'smtpServer.password',
    'smtpServer.authTokenClientSecret',
    'config.clientSecret',
    'config.bindCredential',
    'config.privateKey',
    'config.keystorePassword',
    'credentials',
    'credentials.0.value',
    'registrationAccessToken',
    'attributes.client.secret.rotated',
  ])
    assert.throws(() => set({ credentials: [{}] }, `${path}=x`), /does not accept the secret/, path);
  for (const path of ['passwordPolicy', 'resetPasswordAllowed', 'attributes.client.secret.creation.time'])
    assert.doesNotThrow(() => set({}, `${path}=x`), path);
});

test('--set replaces, appends and removes an entry of a list, and rejects every other key of a list', () => {
  const record = { redirectUris: ['a', 'b'] };
  assert.deepEqual(set(record, 'redirectUris.1=c')['redirectUris'], ['a', 'c']);
  assert.deepEqual(set(record, 'redirectUris.2=c')['redirectUris'], ['a', 'b', 'c']);
  assert.deepEqual(set(record, 'redirectUris.0=null')['redirectUris'], ['b']);
  for (const key of ['3', 'x', '-1', '1e0', 'length'])
    assert.throws(
      () => set(record, `redirectUris.${key}=c`),
      /is not an index of the list, which has 2/,
      key,
    );
  assert.deepEqual(record, { redirectUris: ['a', 'b'] });
});

test('--set cannot reach a prototype', () => {
  for (const path of ['__proto__.x', 'attributes.__proto__', 'constructor.prototype.x', 'a.__proto__.x'])
    assert.throws(() => set({ a: {} }, `${path}=1`), { code: 'IDKIT_USAGE' }, path);
  assert.equal(({} as Record<string, unknown>)['x'], undefined);
});
