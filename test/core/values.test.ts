import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  decodeJsonObject,
  isJsonObject,
  jsonFields,
  nearestName,
  parseJsonObject,
} from '../../src/core/index.ts';

test('recognizes JSON objects, but not null or arrays', () => {
  assert.deepEqual(
    [{}, { a: 1 }, null, [], 'text', 1, undefined].map((value) => isJsonObject(value)),
    [true, true, false, false, false, false, false],
  );
  assert.deepEqual(jsonFields([1]), {});
  assert.deepEqual(parseJsonObject('{"a":1}'), { a: 1 });
  for (const text of ['', '[]', 'null', '{"a":', '"a"']) assert.equal(parseJsonObject(text), undefined, text);
  assert.deepEqual(decodeJsonObject(Buffer.from('{"a":1}').toString('base64url')), { a: 1 });
});

test('finds the nearest name, which differs in at most a third of its characters and ignores case', () => {
  const names = ['redirectUris', 'rootUrl', 'enabled'];
  assert.equal(nearestName('redirectUri', names), 'redirectUris');
  assert.equal(nearestName('ROOTURL', names), 'rootUrl');
  assert.equal(nearestName('enbaled', names), 'enabled');
  assert.equal(nearestName('protocolMappers', names), undefined);
  assert.equal(
    nearestName('x'.repeat(100_000), names),
    undefined,
    'a long name is compared by its beginning',
  );
});
