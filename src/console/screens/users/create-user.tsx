import { useState } from 'react';
import { address, leaveTo } from '../../address/address.ts';
import { path } from '../../api/admin-api.ts';
import { errorAt } from '../../components/field-errors.ts';
import { FormDialog, TextField } from '../../components/forms.tsx';
import { useChange } from '../../components/service-calls.tsx';
import { useApi } from '../../components/session.tsx';

/** A dialog that creates a user and shows it. */
export function CreateUser(props: { realm: string; onClose: () => void }) {
  const api = useApi();
  const [user, setUser] = useState({ username: '', email: '', firstName: '', lastName: '' });
  const change = useChange(
    { done: `User ${user.username} was created`, failed: 'The user was not created' },
    async () => {
      const id = await api.send('POST', path`/${props.realm}/users`, { ...user, enabled: true });
      if (id !== undefined) leaveTo(address`/${props.realm}/users/${id}`);
    },
  );
  const text = (name: keyof typeof user) => ({
    value: user[name],
    onChange: (value: string) => setUser({ ...user, [name]: value }),
    error: errorAt(change, name),
  });
  return (
    <FormDialog
      title="Create user"
      description="Set the password on the page of the new user."
      submit="Create"
      disabled={user.username === ''}
      change={change}
      onClose={props.onClose}
    >
      <TextField label="Username" required {...text('username')} />
      <TextField label="E-mail" type="email" {...text('email')} />
      <TextField label="First name" {...text('firstName')} />
      <TextField label="Last name" {...text('lastName')} />
    </FormDialog>
  );
}
