import { Button } from '@patternfly/react-core/dist/dynamic/components/Button';
import { FormSelect, FormSelectOption } from '@patternfly/react-core/dist/dynamic/components/FormSelect';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { address } from '../../address/address.ts';
import { type AdminApi, path } from '../../api/admin-api.ts';
import type { ClientScope } from '../../api/representations.ts';
import { CheckField, SelectField } from '../../components/choices.tsx';
import { FormDialog } from '../../components/forms.tsx';
import { PagedTable } from '../../components/paged-table.tsx';
import { Loaded, useChange } from '../../components/service-calls.tsx';
import { useApi } from '../../components/session.tsx';

/** Whether a client always gets a scope, or only if its request names the scope. */
type List = 'default' | 'optional';

const LISTS = [
  ['default', 'Always'],
  ['optional', 'On request'],
] as const;

interface ListedScope {
  id: string;
  name: string;
  list: List;
}

async function listScopes(api: AdminApi, place: string): Promise<readonly ListedScope[]> {
  const lists = await Promise.all(
    LISTS.map(async ([list]) => {
      const scopes = await api.get<readonly ClientScope[]>(`${place}/${list}-client-scopes`);
      return scopes.map(({ id, name }) => ({ id, name, list }));
    }),
  );
  return lists.flat().toSorted((one, other) => one.name.localeCompare(other.name));
}

/** The client scopes of a client. */
export function ScopeLists({ realm, id }: { realm: string; id: string }) {
  const api = useApi();
  const [adding, setAdding] = useState(false);
  const place = path`/${realm}/clients/${id}`;
  return (
    <>
      <PagedTable<ListedScope>
        label="Scopes of this client"
        name={['client-scope-lists', place]}
        rowKey={(scope) => scope.id}
        list={async ({ search, first, max }) => {
          const text = search.toLowerCase();
          const all = await listScopes(api, place);
          return all.filter(({ name }) => name.toLowerCase().includes(text)).slice(first, first + max);
        }}
        searchLabel="Search scopes"
        empty="No scopes"
        actions={<Button onClick={() => setAdding(true)}>Add scopes</Button>}
        columns={[
          {
            title: 'Scope',
            cell: (scope) => <Link href={address`/${realm}/client-scopes/${scope.id}`}>{scope.name}</Link>,
          },
          { title: 'Given', cell: (scope) => <ListChoice place={place} scope={scope} /> },
          { title: '', cell: (scope) => <RemoveScope place={place} scope={scope} /> },
        ]}
      />
      {adding ? <AddScopes realm={realm} place={place} onClose={() => setAdding(false)} /> : null}
    </>
  );
}

const scopePath = (place: string, list: List, id: string) => `${place}/${list}-client-scopes${path`/${id}`}`;

function ListChoice({ place, scope }: { place: string; scope: ListedScope }) {
  const api = useApi();
  const other = scope.list === 'default' ? 'optional' : 'default';
  const change = useChange(
    { done: `Scope ${scope.name} was changed`, failed: 'The scope was not changed' },
    // The service takes the scope out of the other list.
    () => api.send('PUT', scopePath(place, other, scope.id)),
  );
  return (
    <FormSelect
      className="narrow"
      aria-label={`When ${scope.name} is given`}
      value={change.running ? other : scope.list}
      isDisabled={change.running}
      onChange={() => void change.run()}
    >
      {LISTS.map(([list, title]) => (
        <FormSelectOption key={list} value={list} label={title} />
      ))}
    </FormSelect>
  );
}

function RemoveScope({ place, scope }: { place: string; scope: ListedScope }) {
  const api = useApi();
  const change = useChange(
    { done: `Scope ${scope.name} was removed`, failed: 'The scope was not removed' },
    () => api.send('DELETE', scopePath(place, scope.list, scope.id)),
  );
  return (
    <Button
      variant="link"
      isInline
      isLoading={change.running}
      aria-label={`Remove ${scope.name}`}
      onClick={() => void change.run()}
    >
      Remove
    </Button>
  );
}

function AddScopes(props: { realm: string; place: string; onClose: () => void }) {
  const api = useApi();
  const [list, setList] = useState<List>('default');
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const free = useQuery({
    queryKey: ['free-scopes', props.place],
    queryFn: async () => {
      const [all, own] = await Promise.all([
        api.get<readonly ClientScope[]>(path`/${props.realm}/client-scopes`),
        listScopes(api, props.place),
      ]);
      const held = new Set(own.map(({ id }) => id));
      return all
        .filter(({ id, protocol }) => !held.has(id) && protocol !== 'saml')
        .toSorted((one, other) => one.name.localeCompare(other.name));
    },
  });
  const change = useChange(
    { done: 'The scopes were added', failed: 'Not all scopes were added' },
    async () => {
      for (const id of chosen) await api.send('PUT', scopePath(props.place, list, id));
    },
  );
  return (
    <FormDialog
      title="Add scopes"
      submit={`Add ${chosen.size}`}
      disabled={chosen.size === 0}
      change={change}
      onClose={props.onClose}
    >
      <SelectField
        label="When the client gets them"
        value={list}
        onChange={(value) => setList(value as List)}
        options={LISTS}
        help="On request: only if the application names the scope when a person signs in"
      />
      <Loaded of={free}>
        {(scopes) =>
          scopes.length === 0 ? (
            <p>The client has every scope of the realm.</p>
          ) : (
            scopes.map((scope) => (
              <CheckField
                key={scope.id}
                label={scope.name}
                {...(scope.description === undefined ? {} : { help: scope.description })}
                checked={chosen.has(scope.id)}
                onChange={(checked) => {
                  const next = new Set(chosen);
                  if (checked) next.add(scope.id);
                  else next.delete(scope.id);
                  setChosen(next);
                }}
              />
            ))
          )
        }
      </Loaded>
    </FormDialog>
  );
}
