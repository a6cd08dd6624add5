import { useQuery } from '@tanstack/react-query';
import { address } from '../../address/address.ts';
import { path } from '../../api/admin-api.ts';
import { Screen } from '../../components/frame.tsx';
import { AddressTabs } from '../../components/record-screen.tsx';
import { useApi } from '../../components/session.tsx';
import { AdminEvents } from './admin-events.tsx';
import { UserEvents } from './user-events.tsx';

/** What a realm stores of events, from `events/config`. */
export interface EventsConfig {
  eventsEnabled?: boolean;
  adminEventsEnabled?: boolean;
  /** The types that the realm stores. */
  enabledEventTypes?: readonly string[];
}

/** The events of users and of administrators, newest first. */
export function EventsScreen({ realm, tab }: { realm: string; tab?: string }) {
  const api = useApi();
  const config = useQuery({
    queryKey: ['events-config', realm],
    queryFn: () => api.get<EventsConfig>(path`/${realm}/events/config`),
  });
  return (
    <Screen title="Events" realm={realm}>
      <AddressTabs
        label="Kinds of events"
        base={address`/${realm}/events`}
        tab={tab}
        tabs={[
          { name: 'users', title: 'Users', content: <UserEvents realm={realm} config={config.data} /> },
          {
            name: 'administrators',
            title: 'Administrators',
            content: <AdminEvents realm={realm} config={config.data} />,
          },
        ]}
      />
    </Screen>
  );
}
