import { Button } from '@patternfly/react-core/dist/dynamic/components/Button';
import { Label } from '@patternfly/react-core/dist/dynamic/components/Label';
import { useState } from 'react';
import { Link } from 'wouter';
import { address } from '../../address/address.ts';
import { path } from '../../api/admin-api.ts';
import type { Client } from '../../api/representations.ts';
import { Screen } from '../../components/frame.tsx';
import { PagedTable } from '../../components/paged-table.tsx';
import { useApi } from '../../components/session.tsx';
import { CreateClient } from './create-client.tsx';
import { kindOf } from './kinds.ts';

/** The clients of a realm. */
export function ClientsScreen({ realm }: { realm: string }) {
  const api = useApi();
  const [creating, setCreating] = useState(false);
  return (
    <Screen title="Clients" realm={realm}>
      <PagedTable<Client>
        label="Clients"
        name={['clients', realm]}
        inAddress
        rowKey={(client) => client.id}
        list={({ search, first, max }) =>
          api.get(path`/${realm}/clients`, { clientId: search, search: true, first, max })
        }
        searchLabel="Search by client id"
        empty="No clients"
        actions={<Button onClick={() => setCreating(true)}>Create client</Button>}
        columns={[
          {
            title: 'Client id',
            cell: (client) => <Link href={address`/${realm}/clients/${client.id}`}>{client.clientId}</Link>,
          },
          { title: 'Kind', cell: kindOf },
          { title: 'Name', cell: ({ name = '' }) => (name.startsWith('${') ? '' : name) },
          { title: 'Description', cell: (client) => client.description ?? '' },
          {
            title: 'State',
            cell: (client) =>
              client.enabled ? <Label color="green">Enabled</Label> : <Label color="red">Disabled</Label>,
          },
        ]}
      />
      {creating ? <CreateClient realm={realm} onClose={() => setCreating(false)} /> : null}
    </Screen>
  );
}
