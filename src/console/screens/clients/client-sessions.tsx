import { ToggleGroup, ToggleGroupItem } from '@patternfly/react-core/dist/dynamic/components/ToggleGroup';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { path } from '../../api/admin-api.ts';
import { useApi } from '../../components/session.tsx';
import { SessionTable } from '../sessions/session-table.tsx';

/** The sessions in which a client takes part: those of browsers, and those with offline tokens. */
export function ClientSessions({ realm, id }: { realm: string; id: string }) {
  const api = useApi();
  const [offline, setOffline] = useState(false);
  const place = path`/${realm}/clients/${id}`;
  const counts = useQuery({
    queryKey: ['session-counts', place],
    queryFn: async () => {
      const [online, later] = await Promise.all([
        api.get<{ count: number }>(`${place}/session-count`),
        api.get<{ count: number }>(`${place}/offline-session-count`),
      ]);
      return { online: online.count, offline: later.count };
    },
  });
  const shown = (count: number | undefined) => (count === undefined ? '' : ` (${count.toLocaleString()})`);
  return (
    <>
      <ToggleGroup aria-label="Kind of session">
        <ToggleGroupItem
          text={`Signed in${shown(counts.data?.online)}`}
          isSelected={!offline}
          onChange={() => setOffline(false)}
        />
        <ToggleGroupItem
          text={`Offline${shown(counts.data?.offline)}`}
          isSelected={offline}
          onChange={() => setOffline(true)}
        />
      </ToggleGroup>
      <SessionTable
        key={String(offline)}
        realm={realm}
        label={offline ? 'Offline sessions' : 'Sessions'}
        place={offline ? `${place}/offline-sessions` : `${place}/user-sessions`}
        offline={offline}
        users
      />
    </>
  );
}
