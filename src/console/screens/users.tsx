import { Button } from '@patternfly/react-core/dist/dynamic/components/Button';
import { Label } from '@patternfly/react-core/dist/dynamic/components/Label';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { path } from '../api/admin-api.ts';
import type { User } from '../api/representations.ts';
import { FormDialog, TextField } from '../components/forms.tsx';
import { Screen } from '../components/frame.tsx';
import { PagedTable } from '../components/paged-table.tsx';
import { useChange } from '../components/service-calls.tsx';
import { useApi } from '../components/session.tsx';

/** The users of a realm, with a search. */
export function UsersScreen({ realm }: { realm: string }) {
  const api = useApi();
  const [creating, setCreating] = useState(false);
  const count = useQuery({
    queryKey: ['users', realm, 'count'],
    queryFn: () => api.get<number>(path`/${realm}/users/count`),
  });
  return (
    <Screen title="Users" realm={realm}>
      <p>{count.data === undefined ? ' ' : `${count.data.toLocaleString()} in total`}</p>
      <PagedTable<User>
        label="Users"
        name={['users', realm]}
        inAddress
        rowKey={(user) => user.id}
        list={(query) => api.get(path`/${realm}/users`, { ...query, briefRepresentation: true })}
        searchLabel="Search by name or e-mail"
        empty="No users"
        actions={<Button onClick={() => setCreating(true)}>Create user</Button>}
        columns={[
          {
            title: 'Username',
            cell: (user) => (
              <Link href={`/${encodeURIComponent(realm)}/users/${encodeURIComponent(user.id)}`}>
                {user.username}
              </Link>
            ),
          },
          { title: 'Name', cell: (user) => [user.firstName, user.lastName].filter(Boolean).join(' ') },
          { title: 'E-mail', cell: (user) => user.email ?? '' },
          {
            title: 'State',
            cell: (user) =>
              user.enabled ? <Label color="green">Enabled</Label> : <Label color="red">Disabled</Label>,
          },
        ]}
      />
      {creating ? <CreateUser realm={realm} onClose={() => setCreating(false)} /> : null}
    </Screen>
  );
}

function CreateUser(props: { realm: string; onClose: () => void }) {
  const api = useApi();
  const [, navigate] = useLocation();
  const [user, setUser] = useState({ username: '', email: '', firstName: '', lastName: '' });
  const set = (name: keyof typeof user) => (value: string) => setUser({ ...user, [name]: value });
  const change = useChange(
    { done: `User ${user.username} was created`, failed: 'The user was not created' },
    async () => {
      const id = await api.send('POST', path`/${props.realm}/users`, { ...user, enabled: true });
      if (id !== undefined) navigate(`/${encodeURIComponent(props.realm)}/users/${encodeURIComponent(id)}`);
    },
  );
  return (
    <FormDialog
      title="Create user"
      description="Set the password on the page of the new user."
      submit="Create"
      disabled={user.username === ''}
      change={change}
      onClose={props.onClose}
    >
      <TextField label="Username" required value={user.username} onChange={set('username')} />
      <TextField label="E-mail" type="email" value={user.email} onChange={set('email')} />
      <TextField label="First name" value={user.firstName} onChange={set('firstName')} />
      <TextField label="Last name" value={user.lastName} onChange={set('lastName')} />
    </FormDialog>
  );
}
