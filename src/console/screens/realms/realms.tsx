import { Button } from '@patternfly/react-core/dist/dynamic/components/Button';
import { Label } from '@patternfly/react-core/dist/dynamic/components/Label';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { address } from '../../address/address.ts';
import type { Realm } from '../../api/representations.ts';
import { FormDialog, TextField } from '../../components/forms.tsx';
import { Screen } from '../../components/frame.tsx';
import { PagedTable } from '../../components/paged-table.tsx';
import { useRights } from '../../components/rights.tsx';
import { useChange } from '../../components/service-calls.tsx';
import { useApi } from '../../components/session.tsx';
import { ImportRealm } from './import-realm.tsx';

/** Every realm that the user may see. There are only a few, so the administrative API returns all of them. */
export function RealmsScreen() {
  const api = useApi();
  const rights = useRights(undefined);
  const [open, setOpen] = useState<'create' | 'import'>();
  const close = () => setOpen(undefined);
  return (
    <Screen
      title="Realms"
      description="A realm is a separate namespace of users, clients, groups and sessions."
    >
      <PagedTable<Realm>
        label="Realms"
        name={['realms', 'list']}
        inAddress
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
        actions={
          rights.mayCreateRealms ? (
            <div className="buttons">
              <Button onClick={() => setOpen('create')}>Create realm</Button>
              <Button variant="secondary" onClick={() => setOpen('import')}>
                Import
              </Button>
            </div>
          ) : null
        }
        columns={[
          {
            title: 'Name',
            cell: ({ realm }) => <Link href={address`/${realm}/users`}>{realm}</Link>,
          },
          { title: 'Display name', cell: (realm) => realm.displayName ?? '' },
          {
            title: 'State',
            cell: (realm) =>
              realm.enabled ? <Label color="green">Enabled</Label> : <Label color="red">Disabled</Label>,
          },
          {
            title: '',
            cell: ({ realm }) => (
              <Link href={address`/${realm}/settings`} aria-label={`Settings of ${realm}`}>
                Settings
              </Link>
            ),
          },
        ]}
      />
      {open === 'create' ? <CreateRealm onClose={close} /> : null}
      {open === 'import' ? <ImportRealm onClose={close} /> : null}
    </Screen>
  );
}

function CreateRealm(props: { onClose: () => void }) {
  const api = useApi();
  const [, navigate] = useLocation();
  const [realm, setRealm] = useState('');
  const [displayName, setDisplayName] = useState('');
  const change = useChange(
    { done: `Realm ${realm} was created`, failed: 'The realm was not created' },
    async () => {
      await api.send('POST', '', { realm, displayName, enabled: true });
      navigate(address`/${realm}/users`);
    },
  );
  return (
    <FormDialog
      title="Create realm"
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
        error={change.faultOf('realm')}
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
