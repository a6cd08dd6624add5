import { Button } from '@patternfly/react-core/dist/dynamic/components/Button';
import { useState } from 'react';
import { path } from '../api/admin-api.ts';
import type { Role } from '../api/representations.ts';
import { ConfirmButton, FormDialog, TextField } from './forms.tsx';
import { PagedTable } from './paged-table.tsx';
import { useChange } from './service-calls.tsx';
import { useApi } from './session.tsx';

/** Lists the roles that a client defines. */
export function ClientRoles({ realm, id }: { realm: string; id: string }) {
  const api = useApi();
  const [creating, setCreating] = useState(false);
  return (
    <>
      <PagedTable<Role>
        label="Roles of this client"
        name={['client-roles', realm, id]}
        rowKey={(role) => role.id}
        list={(query) => api.get(path`/${realm}/clients/${id}/roles`, query)}
        searchLabel="Search roles"
        empty="No roles"
        actions={<Button onClick={() => setCreating(true)}>Create role</Button>}
        columns={[
          { title: 'Role', cell: (role) => role.name },
          { title: 'Description', cell: (role) => role.description ?? '' },
          { title: '', cell: (role) => <RemoveRole realm={realm} role={role} /> },
        ]}
      />
      {creating ? <CreateRole realm={realm} id={id} onClose={() => setCreating(false)} /> : null}
    </>
  );
}

function CreateRole(props: { realm: string; id: string; onClose: () => void }) {
  const api = useApi();
  const [name, setName] = useState('');
  const [description, setDescription] = useState('');
  const change = useChange({ done: `Role ${name} was created`, failed: 'The role was not created' }, () =>
    api.send('POST', path`/${props.realm}/clients/${props.id}/roles`, { name, description }),
  );
  return (
    <FormDialog
      title="Create role"
      submit="Create"
      disabled={name === ''}
      change={change}
      onClose={props.onClose}
    >
      <TextField label="Name" required value={name} onChange={setName} />
      <TextField label="Description" value={description} onChange={setDescription} />
    </FormDialog>
  );
}

function RemoveRole({ realm, role }: { realm: string; role: Role }) {
  const api = useApi();
  const change = useChange(
    { done: `Role ${role.name} was deleted`, failed: 'The role was not deleted' },
    () => api.send('DELETE', path`/${realm}/roles-by-id/${role.id}`),
  );
  return (
    <ConfirmButton
      inline
      label="Delete"
      name={`Delete ${role.name}`}
      title={`Delete ${role.name}?`}
      description="All users and groups lose this role."
      submit="Delete"
      change={change}
    />
  );
}
