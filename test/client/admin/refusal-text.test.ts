import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeRefusal } from '../../../src/client/admin/refusal-text.ts';

const reason = (body: unknown) => describeRefusal(JSON.stringify(body));

test('a rejection names the field and says in words what is wrong with it', () => {
  const cases: [body: unknown, text: string][] = [
    [
      { field: 'email', errorMessage: 'error-invalid-email', params: ['email', 'x'] },
      'email must be an email address',
    ],
    [
      { field: 'username', errorMessage: 'error-invalid-length', params: ['username', 255, 3] },
      'username must have 3 to 255 characters',
    ],
    [
      { field: 'firstName', errorMessage: 'error-invalid-length-too-long', params: ['firstName', 0, 255] },
      'firstName must have at most 255 characters',
    ],
    [
      {
        errors: [
          { field: 'lastName', errorMessage: 'error-user-attribute-required', params: ['lastName'] },
          { field: 'floor', errorMessage: 'error-own-rule', params: ['floor'] },
        ],
      },
      'lastName is required; floor: error-own-rule',
    ],
    [{ field: 'username', errorMessage: 'error-invalid-length' }, 'username: error-invalid-length'],
  ];
  for (const [body, text] of cases) assert.equal(reason(body), text);
});

test('a rejection without a field has the text of the service', () => {
  assert.equal(reason({ errorMessage: 'User exists with same username' }), 'User exists with same username');
  assert.equal(reason({ error: 'invalid_request', error_description: 'No alg' }), 'No alg');
  assert.equal(reason({ error: 'User not found' }), 'User not found');
  assert.equal(describeRefusal('<html>'), '<html>');
  assert.equal(describeRefusal(''), 'the response is empty');
});
