import { Button } from '@patternfly/react-core/dist/dynamic/components/Button';
import { useState } from 'react';
import { path } from '../../api/admin-api.ts';
import type { Credential, User } from '../../api/representations.ts';
import { CheckField } from '../../components/choices.tsx';
import { errorAt } from '../../components/field-errors.ts';
import { ConfirmButton, FormDialog, TextField } from '../../components/forms.tsx';
import { formatTime, PagedTable } from '../../components/paged-table.tsx';
import { useChange } from '../../components/service-calls.tsx';
import { useApi } from '../../components/session.tsx';

const TYPES: Readonly<Record<string, string>> = {
  password: 'Password',
  otp: 'One-time codes',
  webauthn: 'Security key',
  'webauthn-passwordless': 'Passkey',
  'recovery-authn-codes': 'Recovery codes',
};

const typeOf = ({ type }: Credential): string => TYPES[type] ?? type;

/** The credentials of a user, without their secrets. */
export function Credentials({ realm, user }: { realm: string; user: User }) {
  const api = useApi();
  const [setting, setSetting] = useState(false);
  return (
    <>
      <PagedTable<Credential>
        label="Credentials"
        name={['credentials', realm, user.id]}
        rowKey={(credential) => credential.id}
        list={async ({ first, max }) => {
          const all = await api.get<readonly Credential[]>(path`/${realm}/users/${user.id}/credentials`);
          return all.slice(first, first + max);
        }}
        empty="No credentials: the user cannot sign in"
        actions={<Button onClick={() => setSetting(true)}>Set password</Button>}
        columns={[
          { title: 'Kind', cell: typeOf },
          { title: 'Label', cell: ({ userLabel }) => userLabel ?? '' },
          { title: 'Created', cell: ({ createdDate }) => formatTime(createdDate) },
          {
            title: '',
            cell: (credential) => <RemoveCredential realm={realm} user={user} credential={credential} />,
          },
        ]}
      />
      {setting ? <SetPassword realm={realm} user={user} onClose={() => setSetting(false)} /> : null}
    </>
  );
}

function RemoveCredential(props: { realm: string; user: User; credential: Credential }) {
  const { realm, user, credential } = props;
  const api = useApi();
  const kind = typeOf(credential);
  const change = useChange({ done: `${kind} was deleted`, failed: 'The credential was not deleted' }, () =>
    api.send('DELETE', path`/${realm}/users/${user.id}/credentials/${credential.id}`),
  );
  return (
    <ConfirmButton
      inline
      label="Delete"
      name={`Delete ${kind} ${credential.userLabel ?? ''}`.trim()}
      title={`Delete “${kind}” of ${user.username}?`}
      description={
        credential.type === 'password'
          ? 'The user cannot sign in with a password until a new one is set.'
          : 'The user signs in without it from now on.'
      }
      submit="Delete"
      change={change}
    />
  );
}

function SetPassword(props: { realm: string; user: User; onClose: () => void }) {
  const { realm, user } = props;
  const api = useApi();
  const [value, setValue] = useState('');
  const [shown, setShown] = useState(false);
  const [temporary, setTemporary] = useState(true);
  const change = useChange({ done: 'The password was set', failed: 'The password was not set' }, () =>
    api.send('PUT', path`/${realm}/users/${user.id}/reset-password`, {
      type: 'password',
      value,
      temporary,
    }),
  );
  return (
    <FormDialog
      title={`Set password of ${user.username}`}
      description="This ends every session of the user."
      submit="Set password"
      disabled={value === ''}
      change={change}
      onClose={props.onClose}
    >
      <TextField
        label="New password"
        type={shown ? 'text' : 'password'}
        required
        autoComplete="new-password"
        value={value}
        onChange={setValue}
        error={errorAt(change, 'password')}
      />
      <CheckField label="Show the password" checked={shown} onChange={setShown} />
      <CheckField
        label="Temporary: the user must change it at the next sign-in"
        checked={temporary}
        onChange={setTemporary}
      />
    </FormDialog>
  );
}
