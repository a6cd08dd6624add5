import { Button } from '@patternfly/react-core/dist/dynamic/components/Button';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { address } from '../../address/address.ts';
import { path } from '../../api/admin-api.ts';
import type { Role } from '../../api/representations.ts';
import { FormDialog } from '../../components/forms.tsx';
import { PagedTable } from '../../components/paged-table.tsx';
import { useChange } from '../../components/service-calls.tsx';
import { useApi } from '../../components/session.tsx';
import {
  byTitle,
  descriptionOf,
  keyOf,
  matches,
  type OwnedRole,
  titleOf,
  withClients,
} from './owned-role.ts';
import { type ChosenRoles, RoleChoice } from './role-choice.tsx';

/** The roles that a role includes directly. A user with the role has all of them. */
export function Composites({ realm, role }: { realm: string; role: Role }) {
  const api = useApi();
  const queries = useQueryClient();
  const [adding, setAdding] = useState(false);
  const place = path`/${realm}/roles-by-id/${role.id}/composites`;
  const query = {
    queryKey: ['composites', place],
    queryFn: async () =>
      (await withClients(api, realm, await api.get<readonly Role[]>(place))).toSorted(byTitle),
    staleTime: 5000,
  };
  const all = useQuery(query);
  return (
    <>
      <PagedTable<OwnedRole>
        label="Included roles"
        name={['composites', place, 'page']}
        rowKey={keyOf}
        list={async ({ search, first, max }) => {
          const roles = await queries.fetchQuery(query);
          return roles.filter((owned) => matches(owned, search)).slice(first, first + max);
        }}
        searchLabel="Search roles"
        empty="This role includes no other roles"
        actions={<Button onClick={() => setAdding(true)}>Include role</Button>}
        columns={[
          {
            title: 'Role',
            cell: (owned) => <Link href={address`/${realm}/roles/${owned.role.id}`}>{titleOf(owned)}</Link>,
          },
          { title: 'Description', cell: (owned) => descriptionOf(owned.role) },
          { title: '', cell: (owned) => <Remove place={place} owned={owned} /> },
        ]}
      />
      {adding ? (
        <Include
          realm={realm}
          place={place}
          held={new Set([role.id, ...(all.data ?? []).map(keyOf)])}
          onClose={() => setAdding(false)}
        />
      ) : null}
    </>
  );
}

function Remove({ place, owned }: { place: string; owned: OwnedRole }) {
  const api = useApi();
  const change = useChange(
    { done: `${titleOf(owned)} was removed`, failed: 'The role was not removed' },
    () => api.send('DELETE', place, [owned.role]),
  );
  return (
    <Button
      variant="link"
      isInline
      isLoading={change.running}
      aria-label={`Remove ${titleOf(owned)}`}
      onClick={() => void change.run()}
    >
      Remove
    </Button>
  );
}

function Include(props: { realm: string; place: string; held: ReadonlySet<string>; onClose: () => void }) {
  const api = useApi();
  const [chosen, setChosen] = useState<ChosenRoles>(new Map());
  const change = useChange({ done: 'The roles were included', failed: 'The roles were not included' }, () =>
    api.send(
      'POST',
      props.place,
      [...chosen.values()].map(({ role }) => role),
    ),
  );
  return (
    <FormDialog
      title="Include roles"
      description="Every user with this role gets the chosen roles too."
      submit={`Include ${chosen.size}`}
      disabled={chosen.size === 0}
      change={change}
      onClose={props.onClose}
    >
      <RoleChoice realm={props.realm} chosen={chosen} onChoose={setChosen} held={props.held} />
    </FormDialog>
  );
}
