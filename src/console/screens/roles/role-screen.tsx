import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { address, leaveTo } from '../../address/address.ts';
import { path } from '../../api/admin-api.ts';
import type { Client, Role, User } from '../../api/representations.ts';
import { AttributeFields, attributeLines, readAttributes } from '../../components/attribute-fields.tsx';
import { errorAt } from '../../components/field-errors.ts';
import { ConfirmButton, TextField } from '../../components/forms.tsx';
import { PagedTable } from '../../components/paged-table.tsx';
import { RecordForm, useDraft } from '../../components/record-form.tsx';
import { RecordScreen } from '../../components/record-screen.tsx';
import { useChange } from '../../components/service-calls.tsx';
import { useApi } from '../../components/session.tsx';
import { Composites } from './composites.tsx';
import { descriptionOf } from './owned-role.ts';
import { rolesPath } from './role-table.tsx';

/** A role of the realm or of a client, with the roles that it includes, its users and its attributes. */
export function RoleScreen({ realm, id, tab }: { realm: string; id: string; tab?: string }) {
  const api = useApi();
  const role = useQuery({
    queryKey: ['roles', realm, id],
    queryFn: () => api.get<Role>(path`/${realm}/roles-by-id/${id}`),
  });
  return (
    <RecordScreen
      realm={realm}
      of={role}
      title={({ name }) => name}
      label="Parts of this role"
      base={address`/${realm}/roles/${id}`}
      tab={tab}
      tabs={(found) => [
        { name: 'details', title: 'Details', content: <Details key={id} realm={realm} role={found} /> },
        { name: 'includes', title: 'Included roles', content: <Composites realm={realm} role={found} /> },
        { name: 'users', title: 'Users', content: <RoleUsers realm={realm} role={found} /> },
      ]}
    />
  );
}

function Details({ realm, role }: { realm: string; role: Role }) {
  const api = useApi();
  const clientUuid = role.clientRole === true ? role.containerId : undefined;
  const client = useQuery({
    queryKey: ['clients', realm, clientUuid],
    queryFn: () => api.get<Client>(path`/${realm}/clients/${clientUuid!}`),
    enabled: clientUuid !== undefined,
  });
  const draft = useDraft({
    name: role.name,
    description: role.description ?? '',
    lines: attributeLines(role.attributes ?? {}),
  });
  const { name, description, lines } = draft.value;
  const place = path`/${realm}/roles-by-id/${role.id}`;
  const save = useChange({ done: 'The role was saved', failed: 'The role was not saved' }, () =>
    api.send('PUT', place, { ...role, name, description, attributes: readAttributes(lines) }),
  );
  const remove = useChange(
    { done: `Role ${role.name} was deleted`, failed: 'The role was not deleted' },
    async () => {
      await api.send('DELETE', place);
      leaveTo(clientUuid === undefined ? address`/${realm}/roles` : address`/${realm}/clients/${clientUuid}`);
    },
  );
  return (
    <>
      {client.data === undefined ? null : (
        <p>
          A role of the client{' '}
          <Link href={address`/${realm}/clients/${client.data.id}`}>{client.data.clientId}</Link>
        </p>
      )}
      <RecordForm
        change={save}
        draft={draft}
        actions={
          <ConfirmButton
            label="Delete role"
            title={`Delete ${role.name}?`}
            description="All users and groups lose this role."
            submit="Delete"
            change={remove}
          />
        }
      >
        <TextField
          label="Name"
          required
          value={name}
          error={errorAt(save, 'name')}
          onChange={(text) => draft.change({ name: text })}
          help="Applications see the name in their tokens"
        />
        <TextField
          label="Description"
          value={descriptionOf({ ...role, description })}
          onChange={(text) => draft.change({ description: text })}
        />
        <AttributeFields
          label="Attributes"
          lines={lines}
          onChange={(next) => draft.change({ lines: next })}
        />
      </RecordForm>
    </>
  );
}

/** The users who have the role directly. */
function RoleUsers({ realm, role }: { realm: string; role: Role }) {
  const api = useApi();
  const all = rolesPath(realm, role.clientRole === true ? role.containerId : undefined);
  return (
    <>
      <p>Users to whom this role was assigned directly, not through a group or another role.</p>
      <PagedTable<User>
        label="Users with this role"
        name={['role-users', realm, role.id]}
        rowKey={(user) => user.id}
        list={({ first, max }) => api.get(all + path`/${role.name}/users`, { first, max })}
        empty="No users"
        columns={[
          {
            title: 'Username',
            cell: (user) => <Link href={address`/${realm}/users/${user.id}`}>{user.username}</Link>,
          },
          { title: 'Name', cell: (user) => [user.firstName, user.lastName].filter(Boolean).join(' ') },
          { title: 'E-mail', cell: (user) => user.email ?? '' },
        ]}
      />
    </>
  );
}
