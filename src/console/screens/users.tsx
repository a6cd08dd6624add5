import { Button } from '@patternfly/react-core/dist/dynamic/components/Button';
import { Label } from '@patternfly/react-core/dist/dynamic/components/Label';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { path } from '../api/admin-api.ts';
import type { User } from '../api/representations.ts';
import { useAct } from '../components/act.tsx';
import { FormDialog, TextField } from '../components/dialog.tsx';
import { Screen } from '../components/frame.tsx';
import { PagedTable } from '../components/paged-table.tsx';
import { useApi } from '../components/session.tsx';

/** Search, and the way to one user. */
export function UsersScreen({ realm }: { realm: string }) {
  const api = useApi();
  const [making, setMaking] = useState(false);
  const count = useQuery({
    queryKey: ['users', realm, 'count'],
    queryFn: () => api.get<number>(path`/${realm}/users/count`),
  });
  return (
    <Screen title="Users" realm={realm}>
      <p>{count.data === undefined ? ' ' : `${count.data.toLocaleString()} in all`}</p>
      <PagedTable<User>
        label="Users"
        name={['users', realm]}
        rowKey={(user) => user.id}
        list={(asked) => api.get(path`/${realm}/users`, { ...asked, briefRepresentation: true })}
        searchLabel="Search by name or e-mail"
        empty="No users"
        actions={<Button onClick={() => setMaking(true)}>Create user</Button>}
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
      {making ? <CreateUser realm={realm} onClose={() => setMaking(false)} /> : null}
    </Screen>
  );
}

function CreateUser(props: { realm: string; onClose: () => void }) {
  const api = useApi();
  const [, goTo] = useLocation();
  const [user, setUser] = useState({ username: '', email: '', firstName: '', lastName: '' });
  const set = (name: keyof typeof user) => (value: string) => setUser({ ...user, [name]: value });
  const act = useAct(
    { done: `User ${user.username} is there`, failed: 'The user was not created' },
    async () => {
      const id = await api.send('POST', path`/${props.realm}/users`, { ...user, enabled: true });
      if (id !== undefined) goTo(`/${encodeURIComponent(props.realm)}/users/${encodeURIComponent(id)}`);
    },
  );
  return (
    <FormDialog
      title="Create user"
      description="The password is set on the user's own page."
      submit="Create"
      disabled={user.username === ''}
      act={act}
      onClose={props.onClose}
    >
      <TextField label="Username" required value={user.username} onChange={set('username')} />
      <TextField label="E-mail" type="email" value={user.email} onChange={set('email')} />
      <TextField label="First name" value={user.firstName} onChange={set('firstName')} />
      <TextField label="Last name" value={user.lastName} onChange={set('lastName')} />
    </FormDialog>
  );
}
