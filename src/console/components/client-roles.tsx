import { Button } from '@patternfly/react-core/dist/dynamic/components/Button';
import { useState } from 'react';
import { path } from '../api/admin-api.ts';
import type { Role } from '../api/representations.ts';
import { useAct } from './act.tsx';
import { AskingButton, FormDialog, TextField } from './dialog.tsx';
import { PagedTable } from './paged-table.tsx';
import { useApi } from './session.tsx';

/** The roles that a client defines, as a protected API checks them. */
export function ClientRoles({ realm, id }: { realm: string; id: string }) {
  const api = useApi();
  const [making, setMaking] = useState(false);
  return (
    <>
      <PagedTable<Role>
        label="Roles of this client"
        name={['client-roles', realm, id]}
        rowKey={(role) => role.id}
        list={(asked) => api.get(path`/${realm}/clients/${id}/roles`, asked)}
        searchLabel="Search roles"
        empty="No roles"
        actions={<Button onClick={() => setMaking(true)}>Create role</Button>}
        columns={[
          { title: 'Role', cell: (role) => role.name },
          { title: 'Description', cell: (role) => role.description ?? '' },
          { title: '', cell: (role) => <RemoveRole realm={realm} role={role} /> },
        ]}
      />
      {making ? <CreateRole realm={realm} id={id} onClose={() => setMaking(false)} /> : null}
    </>
  );
}

function CreateRole(props: { realm: string; id: string; onClose: () => void }) {
  const api = useApi();
  const [name, setName] = useState('');
  const [description, setDescription] = useState('');
  const act = useAct({ done: `Role ${name} is there`, failed: 'The role was not created' }, () =>
    api.send('POST', path`/${props.realm}/clients/${props.id}/roles`, { name, description }),
  );
  return (
    <FormDialog title="Create role" submit="Create" disabled={name === ''} act={act} onClose={props.onClose}>
      <TextField label="Name" required value={name} onChange={setName} />
      <TextField label="Description" value={description} onChange={setDescription} />
    </FormDialog>
  );
}

function RemoveRole({ realm, role }: { realm: string; role: Role }) {
  const api = useApi();
  const act = useAct({ done: `Role ${role.name} is gone`, failed: 'Not deleted' }, () =>
    api.send('DELETE', path`/${realm}/roles-by-id/${role.id}`),
  );
  return (
    <AskingButton
      inline
      label="Delete"
      name={`Delete ${role.name}`}
      title={`Delete ${role.name}?`}
      description="It is taken from everybody who has it."
      submit="Delete"
      act={act}
    />
  );
}
