import { useState } from 'react';
import { address, leaveTo } from '../../address/address.ts';
import { path } from '../../api/admin-api.ts';
import type { Group } from '../../api/representations.ts';
import { errorAt } from '../../components/field-errors.ts';
import { FormDialog, TextField } from '../../components/forms.tsx';
import { useChange } from '../../components/service-calls.tsx';
import { useApi } from '../../components/session.tsx';

/** A dialog that creates a group at the top level, or below `parent`. */
export function CreateGroup(props: { realm: string; parent?: Group; onClose: () => void }) {
  const { realm, parent } = props;
  const api = useApi();
  const [name, setName] = useState('');
  const [description, setDescription] = useState('');
  const change = useChange(
    { done: `Group ${name} was created`, failed: 'The group was not created' },
    async () => {
      const place =
        parent === undefined ? path`/${realm}/groups` : path`/${realm}/groups/${parent.id}/children`;
      const id = await api.send('POST', place, { name, description });
      if (id !== undefined) leaveTo(address`/${realm}/groups/${id}`);
    },
  );
  return (
    <FormDialog
      title={parent === undefined ? 'Create group' : `Create group below ${parent.name}`}
      submit="Create"
      disabled={name.trim() === ''}
      change={change}
      onClose={props.onClose}
    >
      <TextField label="Name" required value={name} onChange={setName} error={errorAt(change, 'name')} />
      <TextField label="Description" value={description} onChange={setDescription} />
    </FormDialog>
  );
}
