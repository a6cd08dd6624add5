import { useState } from 'react';
import { useLocation } from 'wouter';
import { address } from '../../address/address.ts';
import { FormDialog, TextField } from '../../components/forms.tsx';
import { useChange } from '../../components/service-calls.tsx';
import { useApi } from '../../components/session.tsx';

/** Creates an empty realm, and opens its users. */
export function CreateRealm(props: { onClose: () => void }) {
  const api = useApi();
  const [, navigate] = useLocation();
  const [realm, setRealm] = useState('');
  const [displayName, setDisplayName] = useState('');
  const change = useChange(
    { done: `Realm ${realm} was created`, failed: 'The realm was not created' },
    async () => {
      await api.send('POST', '', { realm, displayName, enabled: true });
      navigate(address`/${realm}/users`);
    },
  );
  return (
    <FormDialog
      title="Create realm"
      submit="Create"
      disabled={realm === ''}
      change={change}
      onClose={props.onClose}
    >
      <TextField
        label="Name"
        required
        value={realm}
        onChange={setRealm}
        error={change.faultOf('realm')}
        help="Part of every URL of the realm; short and in lower case is best"
      />
      <TextField
        label="Display name"
        value={displayName}
        onChange={setDisplayName}
        help="Shown on the login page"
      />
    </FormDialog>
  );
}
