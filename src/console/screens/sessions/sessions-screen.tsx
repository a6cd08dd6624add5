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
  const all = useChange(
    { done: 'Everybody was signed out', failed: 'The sessions were not ended' },
    // The service returns a list of clients that it does not know how to notify, which is always empty.
    () => api.send('POST', path`/${realm}/logout-all`),
  );
  return (
    <Screen title="Sessions" realm={realm}>
      <Loaded of={stats}>
        {(clients) => {
          const sorted = clients.toSorted(
            (one, other) =>
              Number(other.active) + Number(other.offline) - Number(one.active) - Number(one.offline),
          );
          const [most] = sorted;
          if (most === undefined) return <EmptyState titleText="No sessions" headingLevel="h2" />;
          const { id, offline } = chosen ?? { id: most.id, offline: Number(most.active) === 0 };
          const shown = sorted.find((one) => one.id === id);
          return (
            <>
              <SessionChart stats={sorted} chosen={{ id, offline }} onChoose={choose} />
              {shown === undefined ? (
                <p>The chosen client has no sessions any more.</p>
              ) : (
                <SessionTable
                  key={`${id} ${offline}`}
                  realm={realm}
                  label={offline ? `Offline sessions of ${shown.clientId}` : `Sessions of ${shown.clientId}`}
                  place={`${path`/${realm}/clients/${id}`}/${offline ? 'offline-sessions' : 'user-sessions'}`}
                  offline={offline}
                  users
                  actions={
                    <ConfirmButton
                      label="Sign out everybody"
                      title={`Sign out everybody in ${realm}?`}
                      description="This ends every session of the realm, except offline access. People have to sign in again, also you if you are one of them."
                      submit="Sign out everybody"
                      change={all}
                    />
                  }
                />
              )}
            </>
          );
        }}
      </Loaded>
    </Screen>
  );
}
