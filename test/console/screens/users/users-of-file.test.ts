import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAX_USERS, readUsernames } from '../../../../src/console/screens/users/users-of-file.ts';

test('usernames come from the column username, with commas, semicolons or tabs', () => {
  assert.deepEqual(readUsernames('email,Username\na@x.org,ann\nb@x.org,bob\n'), ['ann', 'bob']);
  assert.deepEqual(readUsernames('\uFEFFusername;email\r\nann;a@x.org\r\n'), ['ann']);
  assert.deepEqual(readUsernames('id\tusername\n1\tann\n'), ['ann']);
  assert.deepEqual(readUsernames('name,username\n"Bee, Ann ""B""","ann"\n'), ['ann']);
});

test('a file without separators has one username a line, and a username counts once', () => {
  assert.deepEqual(readUsernames('ann\n\nbob\nann\n'), ['ann', 'bob']);
  assert.deepEqual(readUsernames('username\nann\n'), ['ann']);
});

test('a file without usernames or with too many is rejected with what is wrong', () => {
  assert.throws(() => readUsernames('email,name\na@x.org,Ann\n'), /no column username, but email, name/);
  assert.throws(() => readUsernames('username\n'), /names no users/);
  const many = Array.from({ length: MAX_USERS + 1 }, (_, index) => `u${index}`).join('\n');
  assert.throws(() => readUsernames(many), /names 5,001 users, but .* idkit admin bulk changes more/);
});
