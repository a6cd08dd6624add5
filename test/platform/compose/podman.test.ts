import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { IdkitError } from '../../../src/core/index.ts';
import type { DefinedService } from '../../../src/platform/compose/definition.ts';
import { checkPrecedence, endOfPodman, fingerprint } from '../../../src/platform/compose/podman.ts';

const IMAGE = `\${IMAGE:-postgres:17}`;

const SERVICE: DefinedService = {
  name: 'database',
  role: 'database',
  image: IMAGE,
  definition: {
    image: IMAGE,
    command: ['echo', '$$OTHER'],
    environment: { POSTGRES_USER: 'idkit', POSTGRES_PASSWORD: null },
  },
};

function checkWith(t: TestContext, version: string, environment: Record<string, string>): void {
  const dir = mkdtempSync(join(tmpdir(), 'idkit-podman-compose-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  writeFileSync(join(dir, '.env'), 'IMAGE=one\nOTHER=one\n', { mode: 0o600 });
  const definition = { file: join(dir, 'compose.yaml'), dir, services: [SERVICE] };
  checkPrecedence({ file: 'podman-compose', args: [], version }, definition, SERVICE, environment);
}

test('replaces a container only if its definition or the value of a variable in it has changed', () => {
  const before = { IMAGE: 'one', POSTGRES_PASSWORD: 'secret', OTHER: 'one' };
  const made = fingerprint(SERVICE, before);
  assert.equal(fingerprint(structuredClone(SERVICE), { ...before, OTHER: 'two' }), made);
  assert.notEqual(fingerprint(SERVICE, { ...before, IMAGE: 'two' }), made);
  assert.notEqual(fingerprint(SERVICE, { ...before, POSTGRES_PASSWORD: 'other' }), made);
  const changed = { ...SERVICE, definition: { ...SERVICE.definition, restart: 'no' } };
  assert.notEqual(fingerprint(changed, before), made);
  const listed = { ...SERVICE, definition: { environment: ['POSTGRES_PASSWORD', 'A=b'] } };
  assert.notEqual(
    fingerprint(listed, before),
    fingerprint(listed, { ...before, POSTGRES_PASSWORD: 'other' }),
  );
});

test('uses the exit code of the last podman process that podman-compose ran', () => {
  const exitCodeOf = (stdout: string, code = 0) => endOfPodman({ code, stdout, stderr: '' }).code;
  assert.equal(exitCodeOf('podman run …\nexit code: 125\npodman start …\nexit code: 126\n'), 126);
  assert.equal(exitCodeOf('podman run …\nexit code: 125\npodman start …\nexit code: 0\n'), 0);
  assert.equal(exitCodeOf('nothing of the kind\n'), 0);
  assert.equal(exitCodeOf('exit code: 0\n', 1), 1);
});

test('rejects an environment variable whose value podman-compose 1.0.3 would ignore, and names it', (t) => {
  for (const version of ['1.0.3', '1.0.2', '0.9']) {
    const check = () => checkWith(t, version, { IMAGE: 'two', OTHER: 'two' });
    assert.throws(
      check,
      (error) => error instanceof IdkitError && /uses IMAGE from \.env/.test(error.message),
    );
    checkWith(t, version, { IMAGE: 'one', OTHER: 'two' });
  }
  for (const version of ['1.0.6', '1.3.0', '2.0']) checkWith(t, version, { IMAGE: 'two', OTHER: 'two' });
});
