import { Button } from '@patternfly/react-core/dist/dynamic/components/Button';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { address } from '../../address/address.ts';
import { path } from '../../api/admin-api.ts';
import type { Session } from '../../api/representations.ts';
import { formatTime, PagedTable } from '../../components/paged-table.tsx';
import { useChange } from '../../components/service-calls.tsx';
import { useApi } from '../../components/session.tsx';

/**
 * Sessions, with a button to end each.
 *
 * @param props `place` is the path that lists them; `users` adds a column with the user
 */
export function SessionTable(props: {
  realm: string;
  label: string;
  place: string;
  offline?: boolean;
  users?: boolean;
  actions?: ReactNode;
}) {
  const { realm, place } = props;
  const api = useApi();
  return (
    <PagedTable<Session>
      label={props.label}
      name={['sessions', place]}
      rowKey={(session) => session.id}
      list={({ first, max }) => api.get(place, { first, max })}
      empty="No sessions"
      actions={props.actions}
      columns={[
        ...(props.users === true
          ? [
              {
                title: 'User',
                cell: (session: Session) => (
                  <Link href={address`/${realm}/users/${session.userId}`}>{session.username}</Link>
                ),
              },
            ]
          : []),
        { title: 'Started', cell: (session) => formatTime(session.start) },
        { title: 'Last used', cell: (session) => formatTime(session.lastAccess) },
        { title: 'Address', cell: (session) => <span className="address">{session.ipAddress}</span> },
        {
          title: 'Clients',
          cell: (session) => (
            <span className="names">
              {Object.entries(session.clients).map(([uuid, clientId]) => (
                <Link key={uuid} href={address`/${realm}/clients/${uuid}`}>
                  {clientId}
                </Link>
              ))}
            </span>
          ),
        },
        {
          title: '',
          cell: (session) => <SignOut realm={realm} session={session} offline={props.offline === true} />,
        },
      ]}
    />
  );
}

function SignOut(props: { realm: string; session: Session; offline: boolean }) {
  const { realm, session, offline } = props;
  const api = useApi();
  const change = useChange({ done: 'The session was ended', failed: 'The session was not ended' }, () =>
    api.send('DELETE', path`/${realm}/sessions/${session.id}` + (offline ? '?isOffline=true' : '')),
  );
  return (
    <Button
      variant="link"
      isInline
      isLoading={change.running}
      aria-label={`Sign out session of ${session.username}, started ${formatTime(session.start)}`}
      onClick={() => void change.run()}
    >
      Sign out
    </Button>
  );
}
