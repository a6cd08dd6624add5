import { Button } from '@patternfly/react-core/dist/dynamic/components/Button';
import { Checkbox } from '@patternfly/react-core/dist/dynamic/components/Checkbox';
import { ActionGroup, Form } from '@patternfly/react-core/dist/dynamic/components/Form';
import { Switch } from '@patternfly/react-core/dist/dynamic/components/Switch';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { path } from '../api/admin-api.ts';
import type { User } from '../api/representations.ts';
import { useAct } from '../components/act.tsx';
import { AskingButton, TextField } from '../components/dialog.tsx';
import { RecordScreen } from '../components/record-screen.tsx';
import { RoleAssignments } from '../components/role-assignments.tsx';
import { useApi } from '../components/session.tsx';
import { SessionTable } from '../components/session-table.tsx';

/** One user: who they are, their password, roles and sessions. */
export function UserScreen({ realm, id }: { realm: string; id: string }) {
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
      label="Of this user"
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
  const [, goTo] = useLocation();
  const [changed, setChanged] = useState<Partial<User>>({});
  const shown = { ...user, ...changed };
  const save = useAct({ done: 'Saved', failed: 'Not saved' }, async () => {
    // The whole record goes back: what a change leaves out would be taken away (facts §7.2).
    const now = await api.get<User>(path`/${realm}/users/${user.id}`);
    await api.send('PUT', path`/${realm}/users/${user.id}`, { ...now, ...changed });
    setChanged({});
  });
  const remove = useAct({ done: `User ${user.username} is gone`, failed: 'Not deleted' }, async () => {
    await api.send('DELETE', path`/${realm}/users/${user.id}`);
    goTo(`/${encodeURIComponent(realm)}/users`);
  });
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
        <AskingButton
          label="Delete user"
          title={`Delete ${user.username}?`}
          description="The user, their credentials and sessions go for good."
          submit="Delete"
          act={remove}
        />
      </ActionGroup>
    </Form>
  );
}

function Password({ realm, user }: { realm: string; user: User }) {
  const api = useApi();
  const [value, setValue] = useState('');
  const [temporary, setTemporary] = useState(true);
  const act = useAct({ done: 'The password is set', failed: 'The password was not set' }, async () => {
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
        if (value !== '') void act.run();
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
        label="Temporary: to be changed at the next login"
        isChecked={temporary}
        onChange={(_event, checked) => setTemporary(checked)}
      />
      <ActionGroup>
        <Button type="submit" isDisabled={value === ''} isLoading={act.running}>
          Set password
        </Button>
      </ActionGroup>
    </Form>
  );
}
