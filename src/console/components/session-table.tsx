import { Button } from '@patternfly/react-core/dist/dynamic/components/Button';
import { path } from '../api/admin-api.ts';
import type { Session, User } from '../api/representations.ts';
import { useAct } from './act.tsx';
import { formatTime, PagedTable } from './paged-table.tsx';
import { useApi } from './session.tsx';

/** Where a user is logged in, and the way to end it. */
export function SessionTable({ realm, user }: { realm: string; user: User }) {
  const api = useApi();
  const all = useAct({ done: `${user.username} is signed out everywhere`, failed: 'Not signed out' }, () =>
    api.send('POST', path`/${realm}/users/${user.id}/logout`),
  );
  return (
    <PagedTable<Session>
      label="Sessions"
      name={['sessions', realm, user.id]}
      rowKey={(session) => session.id}
      // The administrative API gives all sessions of a user at once.
      list={async ({ first, max }) => {
        const sessions = await api.get<readonly Session[]>(path`/${realm}/users/${user.id}/sessions`);
        return sessions.slice(first, first + max);
      }}
      empty="No sessions"
      actions={
        <Button variant="secondary" isLoading={all.running} onClick={() => void all.run()}>
          Sign out everywhere
        </Button>
      }
      columns={[
        { title: 'Started', cell: (session) => formatTime(session.start) },
        { title: 'Last used', cell: (session) => formatTime(session.lastAccess) },
        { title: 'Address', cell: (session) => session.ipAddress },
        { title: 'Clients', cell: (session) => Object.values(session.clients).join(', ') },
        { title: '', cell: (session) => <SignOut realm={realm} session={session} /> },
      ]}
    />
  );
}

function SignOut({ realm, session }: { realm: string; session: Session }) {
  const api = useApi();
  const act = useAct({ done: 'Signed out', failed: 'Not signed out' }, () =>
    api.send('DELETE', path`/${realm}/sessions/${session.id}`),
  );
  return (
    <Button variant="link" isInline isLoading={act.running} onClick={() => void act.run()}>
      Sign out
    </Button>
  );
}
