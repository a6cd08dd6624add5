import { Button } from '@patternfly/react-core/dist/dynamic/components/Button';
import { Checkbox } from '@patternfly/react-core/dist/dynamic/components/Checkbox';
import { ActionGroup, Form } from '@patternfly/react-core/dist/dynamic/components/Form';
import { Switch } from '@patternfly/react-core/dist/dynamic/components/Switch';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { address } from '../address/address.ts';
import { path } from '../api/admin-api.ts';
import type { User } from '../api/representations.ts';
import { ConfirmButton, TextField } from '../components/forms.tsx';
import { RecordScreen } from '../components/record-screen.tsx';
import { RoleAssignments } from '../components/role-assignments.tsx';
import { useChange } from '../components/service-calls.tsx';
import { useApi } from '../components/session.tsx';
import { SessionTable } from '../components/session-table.tsx';

/** A user with details, password, roles and sessions. */
export function UserScreen({ realm, id, tab }: { realm: string; id: string; tab?: string }) {
  const api = useApi();
  const user = useQuery({
    queryKey: ['users', realm, id],
    queryFn: () => api.get<User>(path`/${realm}/users/${id}`),
  });
  return (
    <RecordScreen
      realm={realm}
      of={user}
      title={({ username }) => username}
      label="Parts of this user"
      base={address`/${realm}/users/${id}`}
      tab={tab}
      tabs={(found) => [
        { name: 'details', title: 'Details', content: <Details key={found.id} realm={realm} user={found} /> },
        { name: 'password', title: 'Password', content: <Password realm={realm} user={found} /> },
        { name: 'roles', title: 'Roles', content: <RoleAssignments realm={realm} userId={id} /> },
        { name: 'sessions', title: 'Sessions', content: <SessionTable realm={realm} user={found} /> },
      ]}
    />
  );
}

function Details({ realm, user }: { realm: string; user: User }) {
  const api = useApi();
  const [, navigate] = useLocation();
  const [changed, setChanged] = useState<Partial<User>>({});
  const shown = { ...user, ...changed };
  const save = useChange({ done: 'The user was saved', failed: 'The user was not saved' }, async () => {
    // A PUT replaces the whole record, so it has to contain the unchanged fields too.
    const now = await api.get<User>(path`/${realm}/users/${user.id}`);
    await api.send('PUT', path`/${realm}/users/${user.id}`, { ...now, ...changed });
    setChanged({});
  });
  const remove = useChange(
    { done: `User ${user.username} was deleted`, failed: 'The user was not deleted' },
    async () => {
      await api.send('DELETE', path`/${realm}/users/${user.id}`);
      navigate(`/${encodeURIComponent(realm)}/users`);
    },
  );
  const text = (name: 'email' | 'firstName' | 'lastName') => ({
    value: shown[name] ?? '',
    onChange: (value: string) => setChanged({ ...changed, [name]: value }),
  });
  return (
    <Form
      isWidthLimited
      onSubmit={(event) => {
        event.preventDefault();
        void save.run();
      }}
    >
      <TextField label="Username" value={user.username} onChange={() => undefined} readOnly />
      <TextField label="E-mail" type="email" {...text('email')} />
      <Checkbox
        id="email-verified"
        label="E-mail verified"
        isChecked={shown.emailVerified}
        onChange={(_event, emailVerified) => setChanged({ ...changed, emailVerified })}
      />
      <TextField label="First name" {...text('firstName')} />
      <TextField label="Last name" {...text('lastName')} />
      <Switch
        id="enabled"
        label="Enabled"
        isChecked={shown.enabled}
        onChange={(_event, enabled) => setChanged({ ...changed, enabled })}
      />
      <ActionGroup>
        <Button type="submit" isDisabled={Object.keys(changed).length === 0} isLoading={save.running}>
          Save
        </Button>
        <ConfirmButton
          label="Delete user"
          title={`Delete ${user.username}?`}
          description="This deletes the user with all credentials and sessions. It cannot be undone."
          submit="Delete"
          change={remove}
        />
      </ActionGroup>
    </Form>
  );
}

function Password({ realm, user }: { realm: string; user: User }) {
  const api = useApi();
  const [value, setValue] = useState('');
  const [temporary, setTemporary] = useState(true);
  const change = useChange({ done: 'The password was set', failed: 'The password was not set' }, async () => {
    await api.send('PUT', path`/${realm}/users/${user.id}/reset-password`, {
      type: 'password',
      value,
      temporary,
    });
    setValue('');
  });
  return (
    <Form
      isWidthLimited
      onSubmit={(event) => {
        event.preventDefault();
        if (value !== '') void change.run();
      }}
    >
      <TextField
        label="New password"
        type="password"
        required
        autoComplete="new-password"
        value={value}
        onChange={setValue}
        help="Setting a password ends every session of the user"
      />
      <Checkbox
        id="temporary"
        label="Temporary: the user must change it at the next login"
        isChecked={temporary}
        onChange={(_event, checked) => setTemporary(checked)}
      />
      <ActionGroup>
        <Button type="submit" isDisabled={value === ''} isLoading={change.running}>
          Set password
        </Button>
      </ActionGroup>
    </Form>
  );
}
