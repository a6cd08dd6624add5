import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Manifest, parseManifest, renderManifest } from '../../../src/backupset/index.ts';
import { IdkitError } from '../../../src/core/index.ts';

const MANIFEST: Manifest = {
  formatVersion: 1,
  idkitVersion: '0.1.0',
  startedAt: '2026-11-01T02:00:00.000Z',
  parts: ['database', 'realms'],
  service: { kind: 'idkit', version: '0.1.0' },
  database: { kind: 'sqlite', version: '3.53.4', schemaVersion: 1, bytes: 4096 },
  realms: [
    { realm: 'master', users: 1, file: 'realm-master.json' },
    { realm: 'new', file: 'realm-new.json' },
  ],
  realmSource: 'snapshot',
  files: { 'keycloak-db.sql.gz': 12 },
  steps: [{ id: 'database', milliseconds: 3 }],
};

function codeOf(value: unknown): string {
  try {
    parseManifest(Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)));
    return 'read';
  } catch (error) {
    assert.ok(error instanceof IdkitError, String(error));
    return error.code;
  }
}

test('parses a rendered manifest to the same value', () => {
  assert.deepEqual(parseManifest(Buffer.from(renderManifest(MANIFEST))), MANIFEST);
});

test('format 2 requires the member `sealed`, and format 1 does not have it', () => {
  for (const sealed of [true, false])
    assert.equal(codeOf({ ...MANIFEST, formatVersion: 2, sealed }), 'read', String(sealed));
});

test('accepts members that a later version adds', () => {
  assert.equal(codeOf({ ...MANIFEST, hostname: 'a' }), 'read');
});

test('rejects a newer format version with exit code 14, not as damage', () => {
  assert.equal(codeOf({ ...MANIFEST, formatVersion: 4, parts: 'other' }), 'IDKIT_VERSION');
});

test('format 3 describes the encryption and names no realms, and no older format does', () => {
  const encryption = { to: 'keys', fingerprints: ['ECA2721EF534A056A239FC322DC4466CE85F7EA5'] };
  const encrypted = { ...MANIFEST, formatVersion: 3, sealed: true, realms: [], encryption };
  assert.equal(codeOf(encrypted), 'read');
  assert.equal(codeOf({ ...encrypted, realms: [{ realm: 'acme', users: 1 }] }), 'IDKIT_DAMAGED');
  assert.equal(codeOf({ ...encrypted, formatVersion: 2 }), 'IDKIT_DAMAGED');
  const { encryption: _, ...without } = encrypted;
  assert.equal(codeOf(without), 'IDKIT_DAMAGED');
  assert.equal(codeOf({ ...encrypted, encryption: { to: 'nobody', fingerprints: [] } }), 'IDKIT_DAMAGED');
});

test('rejects a member of the wrong type and names it', () => {
  const wrong: Partial<Record<keyof Manifest, unknown>>[] = [
    { formatVersion: 0 },
    { formatVersion: 2 },
    { sealed: 'yes' },
    { formatVersion: '1' },
    { parts: [] },
    { parts: ['databases'] },
    { parts: ['env', 'env'] },
    { startedAt: 'yesterday' },
    { realms: [{ realm: 'a' }, { realm: 'a' }] },
    { realms: [{ realm: 'a', users: -1 }] },
    { realms: [{ realm: 'a', file: '../x' }] },
    {
      realms: [
        { realm: 'a', file: 'f' },
        { realm: 'b', file: 'f' },
      ],
    },
    { files: { 'a/b': 1 } },
    { files: { a: 1.5 } },
    { service: { kind: 'other', version: '1' } },
  ];
  for (const change of wrong)
    assert.equal(codeOf({ ...MANIFEST, ...change }), 'IDKIT_DAMAGED', JSON.stringify(change));
});

test('parses arbitrary text or rejects it', () => {
  const some = fc.oneof(
    fc.string(),
    fc.json(),
    fc.constantFrom('[', '{"formatVersion":1', '['.repeat(100_000)),
    fc
      .record({ formatVersion: fc.constantFrom(1, 2, 3, null), parts: fc.anything(), realms: fc.anything() })
      .map((it) => JSON.stringify(it)),
  );
  fc.assert(fc.property(some, (text) => ['read', 'IDKIT_DAMAGED', 'IDKIT_VERSION'].includes(codeOf(text))));
});
