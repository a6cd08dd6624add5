import { Button } from '@patternfly/react-core/dist/dynamic/components/Button';
import { Checkbox } from '@patternfly/react-core/dist/dynamic/components/Checkbox';
import { SearchInput } from '@patternfly/react-core/dist/dynamic/components/SearchInput';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { address } from '../../address/address.ts';
import { path } from '../../api/admin-api.ts';
import type { Group, User } from '../../api/representations.ts';
import { FormDialog } from '../../components/forms.tsx';
import { PagedTable } from '../../components/paged-table.tsx';
import { Loaded, useChange } from '../../components/service-calls.tsx';
import { useApi } from '../../components/session.tsx';
import { useTypingPause } from '../../components/typing-pause.ts';

/** The members of a group, without those of its subgroups. */
export function Members({ realm, group }: { realm: string; group: Group }) {
  const api = useApi();
  const [adding, setAdding] = useState(false);
  return (
    <>
      <PagedTable<User>
        label="Members"
        name={['members', realm, group.id]}
        rowKey={(user) => user.id}
        list={({ first, max }) => api.get(path`/${realm}/groups/${group.id}/members`, { first, max })}
        empty="No members"
        actions={<Button onClick={() => setAdding(true)}>Add members</Button>}
        columns={[
          {
            title: 'Username',
            cell: (user) => <Link href={address`/${realm}/users/${user.id}`}>{user.username}</Link>,
          },
          { title: 'Name', cell: (user) => [user.firstName, user.lastName].filter(Boolean).join(' ') },
          { title: 'E-mail', cell: (user) => user.email ?? '' },
          { title: '', cell: (user) => <RemoveMember realm={realm} group={group} user={user} /> },
        ]}
      />
      {adding ? <AddMembers realm={realm} group={group} onClose={() => setAdding(false)} /> : null}
    </>
  );
}

function RemoveMember({ realm, group, user }: { realm: string; group: Group; user: User }) {
  const api = useApi();
  const change = useChange(
    { done: `${user.username} is no longer a member`, failed: 'The member was not removed' },
    () => api.send('DELETE', path`/${realm}/users/${user.id}/groups/${group.id}`),
  );
  return (
    <Button
      variant="link"
      isInline
      isLoading={change.running}
      aria-label={`Remove ${user.username}`}
      onClick={() => void change.run()}
    >
      Remove
    </Button>
  );
}

/** Maximum number of users in the dialog. */
const SHOWN = 20;

function AddMembers(props: { realm: string; group: Group; onClose: () => void }) {
  const { realm, group } = props;
  const api = useApi();
  const [typed, setTyped] = useState('');
  const search = useTypingPause(typed.trim());
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const found = useQuery({
    queryKey: ['users', realm, 'choice', search],
    queryFn: () =>
      api.get<readonly User[]>(path`/${realm}/users`, {
        search,
        briefRepresentation: true,
        first: 0,
        max: SHOWN,
      }),
    placeholderData: keepPreviousData,
  });
  const change = useChange(
    { done: 'The members were added', failed: 'Not all members were added' },
    async () => {
      for (const id of chosen) await api.send('PUT', path`/${realm}/users/${id}/groups/${group.id}`);
    },
  );
  return (
    <FormDialog
      title={`Add members to ${group.name}`}
      submit={`Add ${chosen.size}`}
      disabled={chosen.size === 0}
      change={change}
      onClose={props.onClose}
    >
      <SearchInput
        aria-label="Search users"
        placeholder="Search users by name or e-mail"
        value={typed}
        onChange={(_event, value) => setTyped(value)}
        onClear={() => setTyped('')}
      />
      <Loaded of={found}>
        {(users) => (
          <>
            {users.length === 0 ? <p>Nothing matches</p> : null}
            {users.map((user) => (
              <Checkbox
                key={user.id}
                id={`user-${user.id}`}
                label={user.username}
                description={user.email}
                isChecked={chosen.has(user.id)}
                onChange={(_event, checked) => {
                  const next = new Set(chosen);
                  if (checked) next.add(user.id);
                  else next.delete(user.id);
                  setChosen(next);
                }}
              />
            ))}
            {users.length === SHOWN ? <p>There are more users. Search to find them.</p> : null}
          </>
        )}
      </Loaded>
    </FormDialog>
  );
}
