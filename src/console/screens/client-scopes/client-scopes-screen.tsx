import { Button } from '@patternfly/react-core/dist/dynamic/components/Button';
import { FormSelect, FormSelectOption } from '@patternfly/react-core/dist/dynamic/components/FormSelect';
import { useRef, useState } from 'react';
import { Link } from 'wouter';
import { address, leaveTo } from '../../address/address.ts';
import { type AdminApi, path } from '../../api/admin-api.ts';
import type { ClientScope } from '../../api/representations.ts';
import { errorAt } from '../../components/field-errors.ts';
import { FormDialog, TextField } from '../../components/forms.tsx';
import { Screen } from '../../components/frame.tsx';
import { PagedTable } from '../../components/paged-table.tsx';
import { useChange } from '../../components/service-calls.tsx';
import { useApi } from '../../components/session.tsx';

/** How new clients get a scope. */
type Given = 'default' | 'optional' | 'none';

const GIVEN: readonly (readonly [Given, string])[] = [
  ['default', 'Always'],
  ['optional', 'On request'],
  ['none', 'Not at all'],
];

interface ListedScope extends ClientScope {
  given: Given;
}

async function listScopes(api: AdminApi, realm: string): Promise<readonly ListedScope[]> {
  const ids = async (list: 'default' | 'optional') => {
    const scopes = await api.get<readonly ClientScope[]>(`${path`/${realm}`}/default-${list}-client-scopes`);
    return new Set(scopes.map(({ id }) => id));
  };
  const [scopes, always, optional] = await Promise.all([
    api.get<readonly ClientScope[]>(path`/${realm}/client-scopes`),
    ids('default'),
    ids('optional'),
  ]);
  return scopes
    .map((scope): ListedScope => {
      const given = always.has(scope.id) ? 'default' : optional.has(scope.id) ? 'optional' : 'none';
      return { ...scope, given };
    })
    .toSorted((one, other) => one.name.localeCompare(other.name));
}

/** The client scopes of a realm: claims and roles that several clients share. */
export function ClientScopesScreen({ realm }: { realm: string }) {
  const api = useApi();
  const [creating, setCreating] = useState(false);
  return (
    <Screen title="Client scopes" realm={realm}>
      <p>What several clients have in common: the claims and the roles that their tokens contain.</p>
      <PagedTable<ListedScope>
        label="Client scopes"
        name={['client-scopes', realm]}
        inAddress
        rowKey={(scope) => scope.id}
        list={async ({ search, first, max }) => {
          const text = search.toLowerCase();
          return (await listScopes(api, realm))
            .filter(({ name, description = '' }) => `${name} ${description}`.toLowerCase().includes(text))
            .slice(first, first + max);
        }}
        searchLabel="Search client scopes"
        empty="No client scopes"
        actions={<Button onClick={() => setCreating(true)}>Create client scope</Button>}
        columns={[
          {
            title: 'Scope',
            cell: (scope) => <Link href={address`/${realm}/client-scopes/${scope.id}`}>{scope.name}</Link>,
          },
          { title: 'Description', cell: ({ description }) => description ?? '' },
          { title: 'New clients get it', cell: (scope) => <GivenChoice realm={realm} scope={scope} /> },
        ]}
      />
      {creating ? <CreateScope realm={realm} onClose={() => setCreating(false)} /> : null}
    </Screen>
  );
}

function GivenChoice({ realm, scope }: { realm: string; scope: ListedScope }) {
  const api = useApi();
  // A ref, because the change starts in the event that chooses.
  const next = useRef<Given>(scope.given);
  const place = (list: string) => `${path`/${realm}`}/default-${list}-client-scopes${path`/${scope.id}`}`;
  const save = async (given: Given) => {
    if (given !== 'none') await api.send('PUT', place(given));
    else await api.send('DELETE', place(scope.given));
  };
  const change = useChange(
    { done: `Scope ${scope.name} was changed`, failed: 'The scope was not changed' },
    () => save(next.current),
  );
  return (
    <FormSelect
      className="narrow"
      aria-label={`How new clients get ${scope.name}`}
      value={change.running ? next.current : scope.given}
      isDisabled={change.running}
      onChange={(_event, value) => {
        next.current = value as Given;
        void change.run();
      }}
    >
      {GIVEN.map(([given, title]) => (
        <FormSelectOption key={given} value={given} label={title} />
      ))}
    </FormSelect>
  );
}

function CreateScope(props: { realm: string; onClose: () => void }) {
  const api = useApi();
  const [name, setName] = useState('');
  const [description, setDescription] = useState('');
  const change = useChange(
    { done: `Client scope ${name} was created`, failed: 'The client scope was not created' },
    async () => {
      const id = await api.send('POST', path`/${props.realm}/client-scopes`, {
        name,
        description,
        protocol: 'openid-connect',
        attributes: { 'include.in.token.scope': 'true', 'display.on.consent.screen': 'true' },
      });
      if (id !== undefined) leaveTo(address`/${props.realm}/client-scopes/${id}`);
    },
  );
  return (
    <FormDialog
      title="Create client scope"
      submit="Create"
      disabled={name === ''}
      change={change}
      onClose={props.onClose}
    >
      <TextField
        label="Name"
        required
        value={name}
        onChange={setName}
        error={errorAt(change, 'name')}
        help="Applications name the scope in their requests, so it has no spaces"
      />
      <TextField label="Description" value={description} onChange={setDescription} />
    </FormDialog>
  );
}
