import { Button } from '@patternfly/react-core/dist/dynamic/components/Button';
import { Label } from '@patternfly/react-core/dist/dynamic/components/Label';
import { useState } from 'react';
import { Link } from 'wouter';
import type { Realm } from '../../api/representations.ts';
import { FormDialog, TextField } from '../../components/forms.tsx';
import { Screen } from '../../components/frame.tsx';
import { PagedTable } from '../../components/paged-table.tsx';
import { useChange } from '../../components/service-calls.tsx';
import { useApi } from '../../components/session.tsx';

/** Every realm that the user may see. There are only a few, so the administrative API returns all of them. */
export function RealmsScreen() {
  const api = useApi();
  const [creating, setCreating] = useState(false);
  return (
    <Screen title="Realms">
      <PagedTable<Realm>
        label="Realms"
        name={['realms']}
        rowKey={(realm) => realm.realm}
        list={async ({ search, first, max }) => {
          const all = await api.get<readonly Realm[]>('', { briefRepresentation: true });
          const text = search.toLowerCase();
          return all
            .filter((realm) => `${realm.realm} ${realm.displayName ?? ''}`.toLowerCase().includes(text))
            .toSorted((one, other) => one.realm.localeCompare(other.realm))
            .slice(first, first + max);
        }}
        searchLabel="Search realms"
        empty="No realms"
        actions={<Button onClick={() => setCreating(true)}>Create realm</Button>}
        columns={[
          {
            title: 'Name',
            cell: (realm) => <Link href={`/${encodeURIComponent(realm.realm)}/users`}>{realm.realm}</Link>,
          },
          { title: 'Display name', cell: (realm) => realm.displayName ?? '' },
          {
            title: 'State',
            cell: (realm) =>
              realm.enabled ? <Label color="green">Enabled</Label> : <Label color="red">Disabled</Label>,
          },
        ]}
      />
      {creating ? <CreateRealm onClose={() => setCreating(false)} /> : null}
    </Screen>
  );
}

function CreateRealm(props: { onClose: () => void }) {
  const api = useApi();
  const [realm, setRealm] = useState('');
  const [displayName, setDisplayName] = useState('');
  const change = useChange({ done: `Realm ${realm} was created`, failed: 'The realm was not created' }, () =>
    api.send('POST', '', { realm, displayName, enabled: true }),
  );
  return (
    <FormDialog
      title="Create realm"
      description="A realm is a separate namespace of users, clients and sessions."
      submit="Create"
      disabled={realm === ''}
      change={change}
      onClose={props.onClose}
    >
      <TextField
        label="Name"
        required
        value={realm}
        onChange={setRealm}
        help="Part of every URL of the realm; short and in lower case is best"
      />
      <TextField
        label="Display name"
        value={displayName}
        onChange={setDisplayName}
        help="Shown on the login page"
      />
    </FormDialog>
  );
}
