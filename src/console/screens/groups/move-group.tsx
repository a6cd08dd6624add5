import { useState } from 'react';
import { path } from '../../api/admin-api.ts';
import type { Group } from '../../api/representations.ts';
import { CheckField } from '../../components/choices.tsx';
import { FormDialog } from '../../components/forms.tsx';
import { useChange } from '../../components/service-calls.tsx';
import { useApi } from '../../components/session.tsx';
import { GroupChoice } from './group-choice.tsx';

/** A dialog that moves a group below another one, or to the top level. */
export function MoveGroup(props: { realm: string; group: Group; onClose: () => void }) {
  const { realm, group } = props;
  const api = useApi();
  const [top, setTop] = useState(false);
  const [parent, setParent] = useState<Group>();
  const change = useChange(
    { done: `Group ${group.name} was moved`, failed: 'The group was not moved' },
    () => {
      const place = top ? path`/${realm}/groups` : path`/${realm}/groups/${parent!.id}/children`;
      // The service moves the group, because a group with this id exists.
      return api.send('POST', place, { id: group.id, name: group.name });
    },
  );
  return (
    <FormDialog
      title={`Move ${group.path}`}
      description="Its members lose the roles of the groups above it, and get those of the new groups above."
      submit="Move"
      disabled={!top && parent === undefined}
      change={change}
      onClose={props.onClose}
    >
      {group.parentId === undefined ? null : (
        <CheckField label="To the top level" checked={top} onChange={setTop} />
      )}
      {top ? null : (
        <GroupChoice
          realm={realm}
          chosen={parent}
          onChoose={setParent}
          isUnfit={({ id, path: other }) =>
            id === group.id || id === group.parentId || other.startsWith(`${group.path}/`)
          }
        />
      )}
    </FormDialog>
  );
}
