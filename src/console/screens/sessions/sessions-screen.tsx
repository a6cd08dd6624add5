import { EmptyState } from '@patternfly/react-core/dist/dynamic/components/EmptyState';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { path } from '../../api/admin-api.ts';
import type { ClientSessionStats } from '../../api/representations.ts';
import { ConfirmButton } from '../../components/forms.tsx';
import { Screen } from '../../components/frame.tsx';
import { Loaded, useChange } from '../../components/service-calls.tsx';
import { useApi } from '../../components/session.tsx';
import { SessionChart } from './session-chart.tsx';
import { SessionTable } from './session-table.tsx';

/** The sessions of a realm: how many each client has, and those of one client in detail. */
export function SessionsScreen({ realm }: { realm: string }) {
  const api = useApi();
  const [chosen, choose] = useState<{ id: string; offline: boolean }>();
  const stats = useQuery({
    queryKey: ['session-stats', realm],
    queryFn: () => api.get<readonly ClientSessionStats[]>(path`/${realm}/client-session-stats`),
  });
  const all = useChange({ done: 'Everybody was signed out', failed: 'The sessions were not ended' }, () =>
    api.send('POST', path`/${realm}/logout-all`),
  );
  const signOutAll = (
    <ConfirmButton
      label="Sign out everybody"
      title={`Sign out everybody in ${realm}?`}
      description="This ends every session of the realm, except offline access. People have to sign in again, also you if you are one of them."
      submit="Sign out everybody"
      change={all}
    />
  );
  return (
    <Screen
      title="Sessions"
      realm={realm}
      actions={stats.data === undefined || stats.data.length === 0 ? undefined : signOutAll}
    >
      <Loaded of={stats}>
        {(clients) => {
          const sorted = clients.toSorted((one, other) => totalOf(other) - totalOf(one));
          const [most] = sorted;
          if (most === undefined) return <EmptyState titleText="No sessions" headingLevel="h2" />;
          const still = sorted.find(({ id }) => id === chosen?.id);
          const shown = still ?? most;
          // The chosen kind of session may have ended meanwhile.
          const offline =
            Number(shown.active) === 0 ||
            (still !== undefined && chosen?.offline === true && Number(shown.offline) > 0);
          const place = path`/${realm}/clients/${shown.id}`;
          return (
            <>
              <SessionChart stats={sorted} chosen={{ id: shown.id, offline }} onChoose={choose} />
              <SessionTable
                key={`${shown.id} ${offline}`}
                realm={realm}
                label={offline ? `Offline sessions of ${shown.clientId}` : `Sessions of ${shown.clientId}`}
                place={`${place}/${offline ? 'offline-sessions' : 'user-sessions'}`}
                offline={offline}
                users
              />
            </>
          );
        }}
      </Loaded>
    </Screen>
  );
}

const totalOf = ({ active, offline }: ClientSessionStats): number => Number(active) + Number(offline);
