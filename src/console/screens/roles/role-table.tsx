import { Button } from '@patternfly/react-core/dist/dynamic/components/Button';
import { useState } from 'react';
import { Link } from 'wouter';
import { address, leaveTo } from '../../address/address.ts';
import { path } from '../../api/admin-api.ts';
import type { Role } from '../../api/representations.ts';
import { errorAt } from '../../components/field-errors.ts';
import { FormDialog, TextField } from '../../components/forms.tsx';
import { PagedTable } from '../../components/paged-table.tsx';
import { useChange } from '../../components/service-calls.tsx';
import { useApi } from '../../components/session.tsx';
import { descriptionOf } from './owned-role.ts';

/** Returns the path of the roles of a client, or of the realm. */
export function rolesPath(realm: string, clientUuid?: string): string {
  return clientUuid === undefined ? path`/${realm}/roles` : path`/${realm}/clients/${clientUuid}/roles`;
}

/** The roles that the realm or a client defines. */
export function RoleTable(props: { realm: string; clientUuid?: string; label: string; inAddress?: boolean }) {
  const api = useApi();
  const [creating, setCreating] = useState(false);
  const all = rolesPath(props.realm, props.clientUuid);
  return (
    <>
      <PagedTable<Role>
        label={props.label}
        name={['roles', all]}
        inAddress={props.inAddress === true}
        rowKey={(role) => role.id}
        list={(query) => api.get(all, query)}
        searchLabel="Search roles"
        empty="No roles"
        actions={<Button onClick={() => setCreating(true)}>Create role</Button>}
        columns={[
          {
            title: 'Role',
            cell: (role) => <Link href={address`/${props.realm}/roles/${role.id}`}>{role.name}</Link>,
          },
          { title: 'Description', cell: descriptionOf },
          { title: 'Includes roles', cell: (role) => (role.composite === true ? 'Yes' : 'No') },
        ]}
      />
      {creating ? <CreateRole realm={props.realm} all={all} onClose={() => setCreating(false)} /> : null}
    </>
  );
}

function CreateRole(props: { realm: string; all: string; onClose: () => void }) {
  const api = useApi();
  const [name, setName] = useState('');
  const [description, setDescription] = useState('');
  const change = useChange(
    { done: `Role ${name} was created`, failed: 'The role was not created' },
    async () => {
      await api.send('POST', props.all, { name, description });
      const { id } = await api.get<Role>(props.all + path`/${name}`);
      leaveTo(address`/${props.realm}/roles/${id}`);
    },
  );
  return (
    <FormDialog
      title="Create role"
      submit="Create"
      disabled={name === ''}
      change={change}
      onClose={props.onClose}
    >
      <TextField label="Name" required value={name} onChange={setName} error={errorAt(change, 'name')} />
      <TextField label="Description" value={description} onChange={setDescription} />
    </FormDialog>
  );
}
