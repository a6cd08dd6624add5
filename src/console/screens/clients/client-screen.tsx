import { useQuery } from '@tanstack/react-query';
import { address } from '../../address/address.ts';
import { path } from '../../api/admin-api.ts';
import type { Client, User } from '../../api/representations.ts';
import { RecordScreen } from '../../components/record-screen.tsx';
import { Loaded } from '../../components/service-calls.tsx';
import { useApi } from '../../components/session.tsx';
import { Mappers } from '../client-scopes/mappers.tsx';
import { RoleMappings } from '../roles/role-mappings.tsx';
import { RoleTable } from '../roles/role-table.tsx';
import { Advanced } from './advanced.tsx';
import { ClientSessions } from './client-sessions.tsx';
import { ScopeLists } from './scope-lists.tsx';
import { Secret } from './secret.tsx';
import { Settings } from './settings.tsx';

/** A client with its settings, secret, scopes, mappers, roles, service account and sessions. */
export function ClientScreen({ realm, id, tab }: { realm: string; id: string; tab?: string }) {
  const api = useApi();
  const client = useQuery({
    queryKey: ['clients', realm, id],
    queryFn: () => api.get<Client>(path`/${realm}/clients/${id}`),
  });
  return (
    <RecordScreen
      realm={realm}
      of={client}
      title={({ clientId }) => clientId}
      label="Parts of this client"
      base={address`/${realm}/clients/${id}`}
      tab={tab}
      tabs={(found) => [
        {
          name: 'settings',
          title: 'Settings',
          content: <Settings key={id} realm={realm} client={found} />,
        },
        ...(found.publicClient === true || found.bearerOnly === true
          ? []
          : [{ name: 'secret', title: 'Secret', content: <Secret key={id} realm={realm} client={found} /> }]),
        { name: 'scopes', title: 'Scopes', content: <ScopeLists key={id} realm={realm} id={id} /> },
        {
          name: 'mappers',
          title: 'Mappers',
          content: <Mappers key={id} place={path`/${realm}/clients/${id}`} />,
        },
        {
          name: 'roles',
          title: 'Roles',
          content: <RoleTable key={id} realm={realm} clientUuid={id} label="Roles of this client" />,
        },
        ...(found.serviceAccountsEnabled === true
          ? [{ name: 'account', title: 'Service account', content: <ServiceAccount realm={realm} id={id} /> }]
          : []),
        {
          name: 'sessions',
          title: 'Sessions',
          content: <ClientSessions key={id} realm={realm} id={id} />,
        },
        {
          name: 'advanced',
          title: 'Advanced',
          content: <Advanced key={id} realm={realm} client={found} />,
        },
      ]}
    />
  );
}

/** The roles of the client's service account, which its own tokens contain. */
function ServiceAccount({ realm, id }: { realm: string; id: string }) {
  const api = useApi();
  const account = useQuery({
    queryKey: ['service-account', realm, id],
    queryFn: () => api.get<User>(path`/${realm}/clients/${id}/service-account-user`),
  });
  return (
    <Loaded of={account}>
      {(user) => <RoleMappings realm={realm} holder={{ kind: 'user', id: user.id }} />}
    </Loaded>
  );
}
