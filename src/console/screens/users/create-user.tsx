import { useState } from 'react';
import { useLocation } from 'wouter';
import { path } from '../../api/admin-api.ts';
import { FormDialog, TextField } from '../../components/forms.tsx';
import { screenPath } from '../../components/links.ts';
import { useChange } from '../../components/service-calls.tsx';
import { useApi } from '../../components/session.tsx';

/** A dialog that creates a user and shows it. */
export function CreateUser(props: { realm: string; onClose: () => void }) {
  const api = useApi();
  const [, navigate] = useLocation();
  const [user, setUser] = useState({ username: '', email: '', firstName: '', lastName: '' });
  const set = (name: keyof typeof user) => (value: string) => setUser({ ...user, [name]: value });
  const change = useChange(
    { done: `User ${user.username} was created`, failed: 'The user was not created' },
    async () => {
      const id = await api.send('POST', path`/${props.realm}/users`, { ...user, enabled: true });
      if (id !== undefined) navigate(screenPath(props.realm, 'users', id));
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
