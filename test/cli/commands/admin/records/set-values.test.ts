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

test('--set cannot reach a prototype', () => {
  for (const path of ['__proto__.x', 'attributes.__proto__', 'constructor.prototype.x', 'a.__proto__.x'])
    assert.throws(() => set({ a: {} }, `${path}=1`), { code: 'IDKIT_USAGE' }, path);
  assert.equal(({} as Record<string, unknown>)['x'], undefined);
});
