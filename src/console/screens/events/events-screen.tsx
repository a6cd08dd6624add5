import { Label } from '@patternfly/react-core/dist/dynamic/components/Label';
import { Tab, Tabs, TabTitleText } from '@patternfly/react-core/dist/dynamic/components/Tabs';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { path } from '../api/admin-api.ts';
import type { AdminEvent, Realm, UserEvent } from '../api/representations.ts';
import { Screen } from '../components/frame.tsx';
import { formatTime, PagedTable } from '../components/paged-table.tsx';
import { useApi } from '../components/session.tsx';

/** The events of users and of administrators, newest first. */
export function EventsScreen({ realm }: { realm: string }) {
  const api = useApi();
  const [tab, setTab] = useState<string | number>('user');
  const settings = useQuery({ queryKey: ['realm', realm], queryFn: () => api.get<Realm>(path`/${realm}`) });
  return (
    <Screen title="Events" realm={realm}>
      <Tabs
        aria-label="Kinds of events"
        activeKey={tab}
        onSelect={(_event, key) => setTab(key)}
        mountOnEnter
        unmountOnExit
      >
        <Tab eventKey="user" title={<TabTitleText>Users</TabTitleText>}>
          <PagedTable<UserEvent>
            label="User events"
            name={['events', realm]}
            rowKey={(event) => event.id ?? `${event.time} ${event.type} ${event.userId}`}
            list={({ search, first, max }) =>
              api.get(path`/${realm}/events`, { type: search.trim().toUpperCase(), first, max })
            }
            searchLabel="Type, such as LOGIN_ERROR"
            empty={settings.data?.eventsEnabled === false ? 'This realm does not store events' : 'No events'}
            columns={[
              { title: 'Time', cell: (event) => formatTime(event.time) },
              {
                title: 'Type',
                cell: (event) => (
                  <Label color={event.error === undefined ? 'blue' : 'red'}>{event.type}</Label>
                ),
              },
              { title: 'User', cell: (event) => event.details?.['username'] ?? event.userId ?? '' },
              { title: 'Client', cell: (event) => event.clientId ?? '' },
              { title: 'Address', cell: (event) => event.ipAddress ?? '' },
              { title: 'Error', cell: (event) => event.error ?? '' },
            ]}
          />
        </Tab>
        <Tab eventKey="admin" title={<TabTitleText>Administrators</TabTitleText>}>
          <PagedTable<AdminEvent>
            label="Administrator events"
            name={['admin-events', realm]}
            rowKey={(event) => event.id ?? `${event.time} ${event.resourcePath}`}
            list={({ search, first, max }) =>
              api.get(path`/${realm}/admin-events`, { resourcePath: search.trim(), first, max })
            }
            searchLabel="Resource path, such as users/*"
            empty={
              settings.data?.adminEventsEnabled === false
                ? 'This realm does not store administrator events'
                : 'No events'
            }
            columns={[
              { title: 'Time', cell: (event) => formatTime(event.time) },
              { title: 'Operation', cell: (event) => <Label color="blue">{event.operationType}</Label> },
              { title: 'Resource', cell: (event) => `${event.resourceType} ${event.resourcePath}` },
              { title: 'By', cell: (event) => event.authDetails?.userId ?? '' },
              { title: 'Address', cell: (event) => event.authDetails?.ipAddress ?? '' },
            ]}
          />
        </Tab>
      </Tabs>
    </Screen>
  );
}
