import { Button } from '@patternfly/react-core/dist/dynamic/components/Button';
import { useState } from 'react';
import { Link } from 'wouter';
import { address } from '../../address/address.ts';
import { path } from '../../api/admin-api.ts';
import type { Group, User } from '../../api/representations.ts';
import { FormDialog } from '../../components/forms.tsx';
import { PagedTable } from '../../components/paged-table.tsx';
import { useChange } from '../../components/service-calls.tsx';
import { useApi } from '../../components/session.tsx';
import { GroupChoice } from '../groups/group-choice.tsx';

/** The groups of which a user is a member. */
export function Memberships({ realm, user }: { realm: string; user: User }) {
  const api = useApi();
  const [joining, setJoining] = useState(false);
  return (
    <>
      <PagedTable<Group>
        label="Groups"
        name={['memberships', realm, user.id]}
        rowKey={(group) => group.id}
        list={(query) => api.get(path`/${realm}/users/${user.id}/groups`, query)}
        searchLabel="Search groups"
        empty="No groups"
        actions={<Button onClick={() => setJoining(true)}>Add to group</Button>}
        columns={[
          {
            title: 'Group',
            cell: (group) => <Link href={address`/${realm}/groups/${group.id}`}>{group.name}</Link>,
          },
          { title: 'Path', cell: (group) => group.path },
          { title: '', cell: (group) => <Leave realm={realm} user={user} group={group} /> },
        ]}
      />
      {joining ? <Join realm={realm} user={user} onClose={() => setJoining(false)} /> : null}
    </>
  );
}

function Leave({ realm, user, group }: { realm: string; user: User; group: Group }) {
  const api = useApi();
  const change = useChange(
    { done: `${user.username} is no longer a member of ${group.name}`, failed: 'The user was not removed' },
    () => api.send('DELETE', path`/${realm}/users/${user.id}/groups/${group.id}`),
  );
  return (
    <Button
      variant="link"
      isInline
      isLoading={change.running}
      aria-label={`Remove from ${group.path}`}
      onClick={() => void change.run()}
    >
      Remove
    </Button>
  );
}

function Join(props: { realm: string; user: User; onClose: () => void }) {
  const { realm, user } = props;
  const api = useApi();
  const [group, setGroup] = useState<Group>();
  const change = useChange(
    { done: `${user.username} is a member of ${group?.path}`, failed: 'The user was not added' },
    () => api.send('PUT', path`/${realm}/users/${user.id}/groups/${group!.id}`),
  );
  return (
    <FormDialog
      title={`Add ${user.username} to a group`}
      submit="Add"
      disabled={group === undefined}
      change={change}
      onClose={props.onClose}
    >
      <GroupChoice realm={realm} chosen={group} onChoose={setGroup} />
    </FormDialog>
  );
}
