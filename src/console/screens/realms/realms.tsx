import { Button } from '@patternfly/react-core/dist/dynamic/components/Button';
import { Label } from '@patternfly/react-core/dist/dynamic/components/Label';
import { lazy, Suspense, useState } from 'react';
import { Link } from 'wouter';
import { address } from '../../address/address.ts';
import type { Realm } from '../../api/representations.ts';
import { Screen } from '../../components/frame.tsx';
import { PagedTable } from '../../components/paged-table.tsx';
import { useLoadRealms } from '../../components/realms.ts';
import { useRights } from '../../components/rights.tsx';

// The dialogs are loaded when they are opened, because the list is the first screen that most administrators see.
const CreateRealm = lazy(async () => ({ default: (await import('./create-realm.tsx')).CreateRealm }));
const ImportRealm = lazy(async () => ({ default: (await import('./import-realm.tsx')).ImportRealm }));

/** Every realm that the user may see. The administrative API returns all of them, so they are loaded once for all pages and searches. */
export function RealmsScreen() {
  const loadRealms = useLoadRealms();
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
          const all = await loadRealms();
          const text = search.toLowerCase();
          return all
            .filter((realm) => `${realm.realm} ${realm.displayName ?? ''}`.toLowerCase().includes(text))
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
      <Suspense>
        {open === 'create' ? <CreateRealm onClose={close} /> : null}
        {open === 'import' ? <ImportRealm onClose={close} /> : null}
      </Suspense>
    </Screen>
  );
}
