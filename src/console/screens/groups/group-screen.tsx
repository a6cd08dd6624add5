import { Button } from '@patternfly/react-core/dist/dynamic/components/Button';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { address, leaveTo } from '../../address/address.ts';
import { path } from '../../api/admin-api.ts';
import type { Group } from '../../api/representations.ts';
import { AttributeFields, attributeLines, readAttributes } from '../../components/attribute-fields.tsx';
import { errorAt } from '../../components/field-errors.ts';
import { ConfirmButton, TextField } from '../../components/forms.tsx';
import { RecordForm, useDraft } from '../../components/record-form.tsx';
import { RecordScreen } from '../../components/record-screen.tsx';
import { useRights } from '../../components/rights.tsx';
import { useChange } from '../../components/service-calls.tsx';
import { useApi } from '../../components/session.tsx';
import { RoleMappings } from '../roles/role-mappings.tsx';
import { CreateGroup } from './create-group.tsx';
import { GroupTree } from './group-tree.tsx';
import { Members } from './members.tsx';
import { MoveGroup } from './move-group.tsx';

/** A group with its attributes, members, subgroups and roles. */
export function GroupScreen({ realm, id, tab }: { realm: string; id: string; tab?: string }) {
  const api = useApi();
  const group = useQuery({
    queryKey: ['groups', realm, id],
    queryFn: () => api.get<Group>(path`/${realm}/groups/${id}`),
  });
  return (
    <RecordScreen
      realm={realm}
      of={group}
      title={({ name }) => name}
      label="Parts of this group"
      base={address`/${realm}/groups/${id}`}
      tab={tab}
      tabs={(found) => [
        { name: 'members', title: 'Members', content: <Members key={id} realm={realm} group={found} /> },
        {
          name: 'subgroups',
          title: 'Subgroups',
          content: <Subgroups key={id} realm={realm} group={found} />,
        },
        {
          name: 'roles',
          title: 'Roles',
          content: <RoleMappings key={id} realm={realm} holder={{ kind: 'group', id }} />,
        },
        { name: 'details', title: 'Details', content: <Details key={id} realm={realm} group={found} /> },
      ]}
    />
  );
}

function Subgroups({ realm, group }: { realm: string; group: Group }) {
  const [creating, setCreating] = useState(false);
  return (
    <>
      <Button onClick={() => setCreating(true)}>Create subgroup</Button>
      {group.subGroupCount === 0 ? <p>No subgroups</p> : <GroupTree realm={realm} parent={group} />}
      {creating ? <CreateGroup realm={realm} parent={group} onClose={() => setCreating(false)} /> : null}
    </>
  );
}

function Details({ realm, group }: { realm: string; group: Group }) {
  const api = useApi();
  const draft = useDraft({
    name: group.name,
    description: group.description ?? '',
    lines: attributeLines(group.attributes ?? {}),
  });
  const { name, description, lines } = draft.value;
  const [moving, setMoving] = useState(false);
  const place = path`/${realm}/groups/${group.id}`;
  const save = useChange({ done: 'The group was saved', failed: 'The group was not saved' }, () =>
    api.send('PUT', place, { name, description, attributes: readAttributes(lines) }),
  );
  const { undo } = useRights(realm);
  const remove = useChange(
    { done: `Group ${group.name} was deleted`, failed: 'The group was not deleted' },
    async () => {
      await api.send('DELETE', place);
      leaveTo(
        group.parentId === undefined
          ? address`/${realm}/groups`
          : address`/${realm}/groups/${group.parentId}`,
      );
    },
  );
  const below = group.subGroupCount ?? 0;
  return (
    <>
      <RecordForm
        change={save}
        draft={draft}
        actions={
          <>
            <Button variant="secondary" onClick={() => setMoving(true)}>
              Move
            </Button>
            <ConfirmButton
              label="Delete group"
              title={`Delete ${group.path}?`}
              description={
                below === 0
                  ? `Its members stay, but lose the roles of this group. ${undo}`
                  : `This deletes its ${below} subgroups with everything below them too. The members stay, but lose the roles of these groups. ${undo}`
              }
              submit="Delete"
              change={remove}
            />
          </>
        }
      >
        <TextField label="Path" value={group.path} onChange={() => undefined} readOnly />
        <TextField
          label="Name"
          required
          value={name}
          error={errorAt(save, 'name')}
          onChange={(text) => draft.change({ name: text })}
        />
        <TextField
          label="Description"
          value={description}
          onChange={(text) => draft.change({ description: text })}
        />
        <AttributeFields
          label="Attributes"
          lines={lines}
          onChange={(next) => draft.change({ lines: next })}
        />
      </RecordForm>
      {moving ? <MoveGroup realm={realm} group={group} onClose={() => setMoving(false)} /> : null}
    </>
  );
}
