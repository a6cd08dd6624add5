import { Button } from '@patternfly/react-core/dist/dynamic/components/Button';
import { Label } from '@patternfly/react-core/dist/dynamic/components/Label';
import { useState } from 'react';
import { Link } from 'wouter';
import { address } from '../../address/address.ts';
import { path } from '../../api/admin-api.ts';
import type { UserEvent } from '../../api/representations.ts';
import { formatTime, PagedTable } from '../../components/paged-table.tsx';
import { UserName } from '../../components/record-names.tsx';
import { useApi } from '../../components/session.tsx';
import { EventDetails } from './event-details.tsx';
import { EventFilters, type Filter, startOfDay, useFilters } from './event-filters.tsx';
import { detailTitle, errorTitle, eventTitle } from './event-texts.ts';
import type { EventsConfig } from './events-screen.tsx';
import { findUserId } from './find-user-id.ts';
import { NotStored } from './not-stored.tsx';

/** Returns the name of the event's user, with a link. What was typed at a failed sign-in may be no user. */
function Who({ realm, event }: { realm: string; event: UserEvent }) {
  const { userId } = event;
  const typed = event.details?.['username'];
  if (userId === undefined) return typed ?? '';
  if (typed === undefined) return <UserName realm={realm} id={userId} />;
  return <Link href={address`/${realm}/users/${userId}`}>{typed}</Link>;
}

/** What users did and what went wrong, with filters. */
export function UserEvents({ realm, config }: { realm: string; config: EventsConfig | undefined }) {
  const api = useApi();
  const [open, setOpen] = useState<UserEvent>();
  const types = config?.enabledEventTypes ?? [];
  const filters: readonly Filter[] = [
    {
      name: 'type',
      label: 'What happened',
      kind: 'choice',
      choices: types
        .map((type) => [type, eventTitle(type)] as const)
        .toSorted(([, one], [, other]) => one.localeCompare(other)),
    },
    { name: 'user', label: 'Username', kind: 'text' },
    { name: 'client', label: 'Client id', kind: 'text' },
    { name: 'ip', label: 'Address', kind: 'text' },
    { name: 'from', label: 'From', kind: 'date' },
    { name: 'to', label: 'To', kind: 'date' },
  ];
  const set = useFilters(filters);
  const filtered = Object.values(set).some((value) => value !== '');
  return (
    <>
      <EventFilters label="Filter the events of users" filters={filters} />
      <PagedTable<UserEvent>
        label="User events"
        name={['events', realm, ...Object.values(set)]}
        inAddress
        rowKey={(event) => event.id ?? `${event.time} ${event.type} ${event.userId}`}
        list={async ({ first, max }) => {
          const { type, user = '', client, ip, from = '', to = '' } = set;
          const id = user === '' ? '' : await findUserId(api, [realm], user);
          if (id === undefined) return [];
          return api.get(path`/${realm}/events`, {
            type,
            user: id,
            client,
            ipAddress: ip,
            dateFrom: from === '' ? '' : startOfDay(from),
            dateTo: to === '' ? '' : startOfDay(to, 1) - 1,
            first,
            max,
          });
        }}
        empty={
          filtered
            ? 'No events match the filters'
            : config?.eventsEnabled === false
              ? 'This realm does not store events'
              : 'No events'
        }
        {...(config?.eventsEnabled === false ? { emptyHelp: <NotStored realm={realm} /> } : {})}
        columns={[
          { title: 'Time', cell: (event) => formatTime(event.time) },
          {
            title: 'What happened',
            cell: (event) => (
              <Label color={event.error === undefined ? 'blue' : 'red'}>{eventTitle(event.type)}</Label>
            ),
          },
          { title: 'User', cell: (event) => <Who realm={realm} event={event} /> },
          { title: 'Client', cell: (event) => event.clientId ?? '' },
          { title: 'Address', cell: (event) => <span className="address">{event.ipAddress}</span> },
          { title: 'Why', cell: (event) => (event.error === undefined ? '' : errorTitle(event.error)) },
          {
            title: '',
            cell: (event) => (
              <Button variant="link" isInline className="whole" onClick={() => setOpen(event)}>
                Details
              </Button>
            ),
          },
        ]}
      />
      {open === undefined ? null : (
        <EventDetails
          title={eventTitle(open.type)}
          rows={[
            ['Time', formatTime(open.time)],
            ['Type', open.type],
            ['User', <Who key="who" realm={realm} event={open} />],
            ['Id of the user', open.userId],
            ['Client', open.clientId],
            ['Address', open.ipAddress],
            ['Id of the session', open.sessionId],
            ['Error', open.error],
            ...Object.entries(open.details ?? {}).map(([name, value]) => [detailTitle(name), value] as const),
          ]}
          onClose={() => setOpen(undefined)}
        />
      )}
    </>
  );
}
