import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  detailTitle,
  errorTitle,
  eventTitle,
  otherTitle,
  readResource,
} from '../../../../src/console/screens/events/event-texts.ts';

test('events, errors and details have titles in words, also those without their own text', () => {
  assert.equal(eventTitle('LOGIN_ERROR'), 'Sign-in failed');
  assert.equal(eventTitle('SEND_RESET_PASSWORD'), 'Send reset password');
  assert.equal(eventTitle('SEND_RESET_PASSWORD_ERROR'), 'Send reset password: failed');
  assert.equal(errorTitle('invalid_user_credentials'), 'Wrong password or code');
  assert.equal(errorTitle('some_new_error'), 'Some new error');
  assert.equal(detailTitle('custom_required_action'), 'Custom required action');
});

test('events of the whole realm and of sessions have titles, and an unknown path stays as it is', () => {
  assert.equal(otherTitle(''), 'The realm');
  assert.equal(otherTitle('logout-all'), 'All sessions');
  assert.equal(otherTitle('sessions/UuoDv8O0'), 'Session UuoDv8O0');
  assert.equal(otherTitle('roles/$1 <b>'), 'Role $1 <b>');
  assert.equal(otherTitle('workflows/1'), 'workflows/1');
});

test('the path of an administrator’s event names the record and the changed part', () => {
  const cases = [
    ['users/1', 'user', '1', ''],
    ['users/1/reset-password', 'user', '1', 'password'],
    ['users/1/role-mappings/clients/2', 'user', '1', 'client roles'],
    ['groups/3/children', 'group', '3', 'subgroup'],
    ['clients/2/roles/a%2Fb', 'client', '2', 'role a/b'],
    ['clients/2/roles/read/composites', 'client', '2', 'roles included in read'],
    ['default-optional-client-scopes/5', 'client-scope', '5', 'new clients get it on request'],
    ['roles-by-id/4', 'role', '4', ''],
    ['roles/staff', 'other', 'roles/staff', ''],
    ['', 'other', '', ''],
  ] as const;
  for (const [path, kind, id, part] of cases) assert.deepEqual(readResource(path), { kind, id, part }, path);
});
