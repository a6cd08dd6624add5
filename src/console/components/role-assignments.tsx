import { Button } from '@patternfly/react-core/dist/dynamic/components/Button';
import { Checkbox } from '@patternfly/react-core/dist/dynamic/components/Checkbox';
import { SearchInput } from '@patternfly/react-core/dist/dynamic/components/SearchInput';
import { Table, Tbody, Td, Th, Thead, Tr } from '@patternfly/react-table/dist/dynamic/components/Table';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { path } from '../api/admin-api.ts';
import type { Client, Role, RoleMappings } from '../api/representations.ts';
import { FormDialog } from './forms.tsx';
import { Loaded, useChange } from './service-calls.tsx';
import { useApi } from './session.tsx';

/** A role with the client that it belongs to, if any. */
interface OwnedRole {
  role: Role;
  client?: { id: string; clientId: string };
}

const keyOf = ({ role }: OwnedRole): string => role.id;
const titleOf = ({ role, client }: OwnedRole): string =>
  client === undefined ? role.name : `${client.clientId}: ${role.name}`;

/** The roles of a user, or of a client's service account. */
export function RoleAssignments({ realm, userId }: { realm: string; userId: string }) {
  const api = useApi();
  const [adding, setAdding] = useState(false);
  const base = path`/${realm}/users/${userId}/role-mappings`;
  const mappings = useQuery({
    queryKey: ['roles', realm, userId],
    queryFn: async (): Promise<readonly OwnedRole[]> => {
      const found = await api.get<RoleMappings>(base);
      const realmRoles = (found.realmMappings ?? []).map((role) => ({ role }));
      const clientRoles = Object.values(found.clientMappings ?? {}).flatMap(
        ({ id, client, mappings: roles }) =>
          roles.map((role) => ({ role, client: { id, clientId: client } })),
      );
      return [...realmRoles, ...clientRoles].toSorted((one, other) =>
        titleOf(one).localeCompare(titleOf(other)),
      );
    },
  });
  return (
    <div>
      <Button onClick={() => setAdding(true)}>Assign role</Button>
      <Loaded of={mappings}>
        {(roles) => (
          <>
            <Table aria-label="Roles" variant="compact">
              <Thead>
                <Tr>
                  <Th>Role</Th>
                  <Th>Description</Th>
                  <Th screenReaderText="Actions" />
                </Tr>
              </Thead>
              <Tbody>
                {roles.map((owned) => (
                  <Tr key={keyOf(owned)}>
                    <Td dataLabel="Role">{titleOf(owned)}</Td>
                    <Td dataLabel="Description">{readable(owned.role.description)}</Td>
                    <Td>
                      <Unassign base={base} owned={owned} />
                    </Td>
                  </Tr>
                ))}
              </Tbody>
            </Table>
            {adding ? (
              <Assign
                realm={realm}
                base={base}
                held={new Set(roles.map(keyOf))}
                onClose={() => setAdding(false)}
              />
            ) : null}
          </>
        )}
      </Loaded>
    </div>
  );
}

/**
 * Returns the description to show for a role. It is empty for `${role_…}`, which is a key of Keycloak's message files.
 */
function readable(description: string | undefined): string {
  return description === undefined || description.startsWith('${') ? '' : description;
}

function mappingPath(base: string, { client }: OwnedRole): string {
  return client === undefined ? `${base}/realm` : base + path`/clients/${client.id}`;
}

function Unassign({ base, owned }: { base: string; owned: OwnedRole }) {
  const api = useApi();
  const change = useChange(
    { done: `${titleOf(owned)} was unassigned`, failed: 'The role could not be unassigned' },
    () => api.send('DELETE', mappingPath(base, owned), [owned.role]),
  );
  return (
    <Button
      variant="link"
      isInline
      isLoading={change.running}
      aria-label={`Unassign ${titleOf(owned)}`}
      onClick={() => void change.run()}
    >
      Unassign
    </Button>
  );
}

/** Maximum number of roles in the dialog. */
const SHOWN = 20;

function Assign(props: { realm: string; base: string; held: ReadonlySet<string>; onClose: () => void }) {
  const api = useApi();
  const [search, setSearch] = useState('');
  const [chosen, setChosen] = useState<ReadonlyMap<string, OwnedRole>>(new Map());
  const found = useQuery({
    queryKey: ['assignable', props.realm, search],
    queryFn: () => findRoles(api, props.realm, search),
    placeholderData: keepPreviousData,
  });
  const change = useChange(
    { done: 'The roles were assigned', failed: 'Not all roles were assigned' },
    async () => {
      for (const owned of chosen.values())
        await api.send('POST', mappingPath(props.base, owned), [owned.role]);
    },
  );
  return (
    <FormDialog
      title="Assign roles"
      submit={`Assign ${chosen.size}`}
      disabled={chosen.size === 0}
      change={change}
      onClose={props.onClose}
    >
      <SearchInput
        aria-label="Search roles; client:role finds a role of a client"
        placeholder="role, or client:role"
        value={search}
        onChange={(_event, value) => setSearch(value)}
        onClear={() => setSearch('')}
      />
      <Loaded of={found}>
        {(roles) => {
          const free = roles.filter((owned) => !props.held.has(keyOf(owned)));
          if (free.length === 0) return <p>No roles to assign</p>;
          return free.map((owned) => (
            <Checkbox
              key={keyOf(owned)}
              id={`role-${keyOf(owned)}`}
              label={titleOf(owned)}
              description={readable(owned.role.description)}
              isChecked={chosen.has(keyOf(owned))}
              onChange={(_event, checked) => {
                const next = new Map(chosen);
                if (checked) next.set(keyOf(owned), owned);
                else next.delete(keyOf(owned));
                setChosen(next);
              }}
            />
          ));
        }}
      </Loaded>
    </FormDialog>
  );
}

/** Finds realm roles by a part of their name, or roles of a client by `client:` and a part of the name. */
async function findRoles(
  api: ReturnType<typeof useApi>,
  realm: string,
  search: string,
): Promise<readonly OwnedRole[]> {
  const colon = search.indexOf(':');
  if (colon < 0) {
    const roles = await api.get<readonly Role[]>(path`/${realm}/roles`, { search, first: 0, max: SHOWN });
    return roles.map((role) => ({ role }));
  }
  const clients = await api.get<readonly Client[]>(path`/${realm}/clients`, {
    clientId: search.slice(0, colon).trim(),
    search: true,
    first: 0,
    max: 3,
  });
  const wanted = search.slice(colon + 1).trim();
  const lists = await Promise.all(
    clients.map(async ({ id, clientId }) => {
      const roles = await api.get<readonly Role[]>(path`/${realm}/clients/${id}/roles`, {
        search: wanted,
        first: 0,
        max: SHOWN,
      });
      return roles.map((role) => ({ role, client: { id, clientId } }));
    }),
  );
  return lists.flat();
}
