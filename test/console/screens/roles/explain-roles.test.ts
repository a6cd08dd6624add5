import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Role } from '../../../../src/console/api/representations.ts';
import { explainRoles, sourceText } from '../../../../src/console/screens/roles/explain-roles.ts';

const role = (name: string, composite = false): Role => ({ id: name, name, composite });
const INCLUDED: Readonly<Record<string, readonly Role[]>> = {
  staff: [role('reader'), role('editor', true)],
  // A cycle of roles is possible.
  editor: [role('writer'), role('staff', true)],
};

test('names every reason for a role: an assignment, a group, and the roles that include it', async () => {
  const asked: string[] = [];
  const found = await explainRoles(
    [
      { source: { how: 'direct' }, roles: [role('staff', true), role('guest')] },
      { source: { how: 'group', path: '/sales' }, roles: [role('reader')] },
    ],
    async ({ name }) => {
      asked.push(name);
      return INCLUDED[name] ?? [];
    },
  );
  const text = Object.fromEntries(
    found.map(({ role: { name }, sources }) => [name, sources.map(sourceText)]),
  );
  assert.deepEqual(text, {
    staff: ['Assigned directly', 'Included in editor'],
    guest: ['Assigned directly'],
    reader: ['From group /sales', 'Included in staff'],
    editor: ['Included in staff'],
    writer: ['Included in editor'],
  });
  assert.deepEqual(asked, ['staff', 'editor'], 'each composite role is read once, and no other role');
});
