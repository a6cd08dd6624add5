import { Button } from '@patternfly/react-core/dist/dynamic/components/Button';
import { path } from '../api/admin-api.ts';
import type { Session, User } from '../api/representations.ts';
import { formatTime, PagedTable } from './paged-table.tsx';
import { useChange } from './service-calls.tsx';
import { useApi } from './session.tsx';

/** The sessions of a user, with buttons to end them. */
export function SessionTable({ realm, user }: { realm: string; user: User }) {
  const api = useApi();
  const all = useChange(
    { done: `${user.username} was signed out everywhere`, failed: 'The user was not signed out' },
    () => api.send('POST', path`/${realm}/users/${user.id}/logout`),
  );
  return (
    <PagedTable<Session>
      label="Sessions"
      name={['sessions', realm, user.id]}
      rowKey={(session) => session.id}
      list={({ first, max }) => api.get(path`/${realm}/users/${user.id}/sessions`, { first, max })}
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
  const change = useChange({ done: 'The session was ended', failed: 'The session was not ended' }, () =>
    api.send('DELETE', path`/${realm}/sessions/${session.id}`),
  );
  return (
    <Button variant="link" isInline isLoading={change.running} onClick={() => void change.run()}>
      Sign out
    </Button>
  );
}
