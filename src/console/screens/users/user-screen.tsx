import { Button } from '@patternfly/react-core/dist/dynamic/components/Button';
import { useQuery } from '@tanstack/react-query';
import { address } from '../../address/address.ts';
import { path } from '../../api/admin-api.ts';
import type { User } from '../../api/representations.ts';
import { RecordScreen } from '../../components/record-screen.tsx';
import { useChange } from '../../components/service-calls.tsx';
import { useApi } from '../../components/session.tsx';
import { RoleMappings } from '../roles/role-mappings.tsx';
import { SessionTable } from '../sessions/session-table.tsx';
import { Consents } from './consents.tsx';
import { Credentials } from './credentials.tsx';
import { UserDetails } from './details.tsx';
import { Memberships } from './memberships.tsx';

/** A user with details, credentials, groups, roles, consents and sessions. */
export function UserScreen({ realm, id, tab }: { realm: string; id: string; tab?: string }) {
  const api = useApi();
  const user = useQuery({
    queryKey: ['users', realm, id],
    queryFn: () => api.get<User>(path`/${realm}/users/${id}`),
  });
  return (
    <RecordScreen
      realm={realm}
      of={user}
      title={({ username }) => username}
      label="Parts of this user"
      base={address`/${realm}/users/${id}`}
      tab={tab}
      tabs={(found) => [
        {
          name: 'details',
          title: 'Details',
          content: <UserDetails key={id} realm={realm} user={found} />,
        },
        {
          name: 'credentials',
          title: 'Credentials',
          content: <Credentials key={id} realm={realm} user={found} />,
        },
        { name: 'groups', title: 'Groups', content: <Memberships key={id} realm={realm} user={found} /> },
        {
          name: 'roles',
          title: 'Roles',
          content: <RoleMappings key={id} realm={realm} holder={{ kind: 'user', id }} />,
        },
        { name: 'consents', title: 'Consents', content: <Consents key={id} realm={realm} user={found} /> },
        { name: 'sessions', title: 'Sessions', content: <Sessions realm={realm} user={found} /> },
      ]}
    />
  );
}

function Sessions({ realm, user }: { realm: string; user: User }) {
  const api = useApi();
  const all = useChange(
    { done: `${user.username} was signed out everywhere`, failed: 'The user was not signed out' },
    () => api.send('POST', path`/${realm}/users/${user.id}/logout`),
  );
  return (
    <SessionTable
      realm={realm}
      label="Sessions"
      place={path`/${realm}/users/${user.id}/sessions`}
      actions={
        <Button variant="secondary" isLoading={all.running} onClick={() => void all.run()}>
          Sign out everywhere
        </Button>
      }
    />
  );
}
