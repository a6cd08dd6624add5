import { Button } from '@patternfly/react-core/dist/dynamic/components/Button';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { address } from '../../address/address.ts';
import { type AdminApi, path } from '../../api/admin-api.ts';
import type { Group, RoleMappings as Mappings, Role } from '../../api/representations.ts';
import { CheckField } from '../../components/choices.tsx';
import { FormDialog } from '../../components/forms.tsx';
import { PagedTable } from '../../components/paged-table.tsx';
import { useChange } from '../../components/service-calls.tsx';
import { useApi } from '../../components/session.tsx';
import { type Assigned, explainRoles, type Source, sourceText } from './explain-roles.ts';
import {
  byTitle,
  descriptionOf,
  keyOf,
  mappingPath,
  matches,
  type OwnedRole,
  rolesOfMappings,
  titleOf,
  withClients,
} from './owned-role.ts';
import { type ChosenRoles, RoleChoice } from './role-choice.tsx';

/** The user, group, client or client scope whose roles are listed. */
export interface Holder {
  kind: 'user' | 'group' | 'client' | 'client-scope';
  id: string;
}

/** The texts for each kind of holder. */
const TEXTS = {
  user: { label: 'Roles', add: 'Assign role', remove: 'Unassign', empty: 'No roles' },
  group: { label: 'Roles', add: 'Assign role', remove: 'Unassign', empty: 'No roles' },
  client: { label: 'Roles in scope', add: 'Add role', remove: 'Remove', empty: 'No roles in scope' },
  'client-scope': { label: 'Roles in scope', add: 'Add role', remove: 'Remove', empty: 'No roles in scope' },
} as const;

function basePath(realm: string, { kind, id }: Holder): string {
  switch (kind) {
    case 'user':
      return path`/${realm}/users/${id}/role-mappings`;
    case 'group':
      return path`/${realm}/groups/${id}/role-mappings`;
    case 'client':
      return path`/${realm}/clients/${id}/scope-mappings`;
    case 'client-scope':
      return path`/${realm}/client-scopes/${id}/scope-mappings`;
  }
}

interface ListedRole extends OwnedRole {
  sources: readonly Source[];
}

const isDirect = ({ sources }: ListedRole): boolean => sources.some(({ how }) => how === 'direct');

/**
 * The roles of a holder: those that were assigned to it, and those that it has through groups and other roles, with the
 * reason for each.
 */
export function RoleMappings({ realm, holder }: { realm: string; holder: Holder }) {
  const api = useApi();
  const queries = useQueryClient();
  const [adding, setAdding] = useState(false);
  const [onlyDirect, setOnlyDirect] = useState(false);
  const base = basePath(realm, holder);
  const texts = TEXTS[holder.kind];
  const query = { queryKey: ['roles', base], queryFn: () => listRoles(api, realm, holder), staleTime: 5000 };
  const all = useQuery(query);
  return (
    <>
      <PagedTable<ListedRole>
        label={texts.label}
        name={['roles', base, 'page', String(onlyDirect)]}
        rowKey={keyOf}
        list={async ({ search, first, max }) => {
          const roles = await queries.fetchQuery(query);
          return roles
            .filter((owned) => (!onlyDirect || isDirect(owned)) && matches(owned, search))
            .slice(first, first + max);
        }}
        searchLabel="Search roles"
        empty={texts.empty}
        actions={
          <div className="actions">
            <Button onClick={() => setAdding(true)}>{texts.add}</Button>
            <CheckField label="Only assigned directly" checked={onlyDirect} onChange={setOnlyDirect} />
          </div>
        }
        columns={[
          {
            title: 'Role',
            cell: (owned) => <Link href={address`/${realm}/roles/${owned.role.id}`}>{titleOf(owned)}</Link>,
          },
          { title: 'Description', cell: ({ role }) => descriptionOf(role) },
          {
            title: 'Why',
            cell: ({ sources }) =>
              [...new Set(sources.map(sourceText))].map((text) => <div key={text}>{text}</div>),
          },
          {
            title: '',
            cell: (owned) =>
              isDirect(owned) ? <Unassign base={base} owned={owned} label={texts.remove} /> : null,
          },
        ]}
      />
      {adding ? (
        <Assign
          realm={realm}
          base={base}
          title={texts.add}
          held={new Set((all.data ?? []).filter(isDirect).map(keyOf))}
          onClose={() => setAdding(false)}
        />
      ) : null}
    </>
  );
}

/** Lists every role that the holder has, sorted by title. */
async function listRoles(api: AdminApi, realm: string, holder: Holder): Promise<readonly ListedRole[]> {
  const direct = rolesOfMappings(await api.get<Mappings>(basePath(realm, holder)));
  const assigned: Assigned[] = [{ source: { how: 'direct' }, roles: direct.map(({ role }) => role) }];
  if (holder.kind === 'user' || holder.kind === 'group')
    for (const group of await groupsAbove(api, realm, holder))
      assigned.push({
        source: { how: 'group', path: group.path },
        roles: rolesOfMappings(await api.get<Mappings>(path`/${realm}/groups/${group.id}/role-mappings`)).map(
          ({ role }) => role,
        ),
      });
  const effective = await explainRoles(assigned, (role) =>
    api.get<readonly Role[]>(path`/${realm}/roles-by-id/${role.id}/composites`),
  );
  const owned = await withClients(
    api,
    realm,
    effective.map(({ role }) => role),
  );
  return owned.map((one, index) => ({ ...one, sources: effective[index]!.sources })).toSorted(byTitle);
}

/** Lists the groups whose roles the holder has: the groups of a user, and all groups above. */
async function groupsAbove(api: AdminApi, realm: string, { kind, id }: Holder): Promise<readonly Group[]> {
  const own =
    kind === 'user'
      ? await api.get<readonly Group[]>(path`/${realm}/users/${id}/groups`)
      : [await api.get<Group>(path`/${realm}/groups/${id}`)];
  const all = new Map<string, Group>(kind === 'user' ? own.map((group) => [group.id, group]) : []);
  for (const group of own)
    for (let parentId = group.parentId; parentId !== undefined && !all.has(parentId); ) {
      const parent: Group = await api.get<Group>(path`/${realm}/groups/${parentId}`);
      all.set(parent.id, parent);
      parentId = parent.parentId;
    }
  return [...all.values()];
}

function Unassign({ base, owned, label }: { base: string; owned: OwnedRole; label: string }) {
  const api = useApi();
  const change = useChange(
    { done: `${titleOf(owned)} was removed`, failed: 'The role was not removed' },
    () => api.send('DELETE', mappingPath(base, owned), [owned.role]),
  );
  return (
    <Button
      variant="link"
      isInline
      isLoading={change.running}
      aria-label={`${label} ${titleOf(owned)}`}
      onClick={() => void change.run()}
    >
      {label}
    </Button>
  );
}

function Assign(props: {
  realm: string;
  base: string;
  title: string;
  held: ReadonlySet<string>;
  onClose: () => void;
}) {
  const api = useApi();
  const [chosen, setChosen] = useState<ChosenRoles>(new Map());
  const change = useChange(
    { done: 'The roles were assigned', failed: 'Not all roles were assigned' },
    async () => {
      for (const owned of chosen.values())
        await api.send('POST', mappingPath(props.base, owned), [owned.role]);
    },
  );
  return (
    <FormDialog
      title={`${props.title}s`}
      submit={`Assign ${chosen.size}`}
      disabled={chosen.size === 0}
      change={change}
      onClose={props.onClose}
    >
      <RoleChoice realm={props.realm} chosen={chosen} onChoose={setChosen} held={props.held} />
    </FormDialog>
  );
}
