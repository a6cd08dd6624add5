import { Button } from '@patternfly/react-core/dist/dynamic/components/Button';
import { Label } from '@patternfly/react-core/dist/dynamic/components/Label';
import { useState } from 'react';
import { path } from '../../api/admin-api.ts';
import type { AdminEvent } from '../../api/representations.ts';
import { formatTime, PagedTable } from '../../components/paged-table.tsx';
import { useRealms } from '../../components/realms.ts';
import {
  ClientName,
  ClientScopeName,
  GroupName,
  RoleName,
  UserName,
} from '../../components/record-names.tsx';
import { useAdministration } from '../../components/session.tsx';
import { EventDetails } from './event-details.tsx';
import { EventFilters, type Filter, startOfDay, useFilters } from './event-filters.tsx';
import { operationTitle, otherTitle, type Resource, readResource } from './event-texts.ts';
import type { EventsConfig } from './events-screen.tsx';
import { findUserId } from './find-user-id.ts';
import { NotStored } from './not-stored.tsx';

const OPERATIONS = ['CREATE', 'UPDATE', 'DELETE', 'ACTION'].map((one) => [one, operationTitle(one)] as const);

/** The kinds of records that administrators change, by Keycloak's names. */
const RESOURCES = [
  ['USER', 'Users'],
  ['GROUP', 'Groups'],
  ['GROUP_MEMBERSHIP', 'Members of groups'],
  ['REALM_ROLE', 'Realm roles'],
  ['CLIENT_ROLE', 'Client roles'],
  ['REALM_ROLE_MAPPING', 'Assigned realm roles'],
  ['CLIENT_ROLE_MAPPING', 'Assigned client roles'],
  ['CLIENT', 'Clients'],
  ['CLIENT_SCOPE', 'Client scopes'],
  ['PROTOCOL_MAPPER', 'Mappers'],
  ['REALM', 'The realm'],
  ['COMPONENT', 'Keys and other components'],
  ['USER_SESSION', 'Sessions'],
] as const;

const FILTERS: readonly Filter[] = [
  { name: 'operation', label: 'What was done', kind: 'choice', choices: OPERATIONS },
  { name: 'resource', label: 'To what', kind: 'choice', choices: RESOURCES },
  { name: 'by', label: 'Administrator', kind: 'text' },
  { name: 'ip', label: 'Address', kind: 'text' },
  { name: 'from', label: 'From', kind: 'date' },
  { name: 'to', label: 'To', kind: 'date' },
];

/** What administrators changed, with filters. */
export function AdminEvents({ realm, config }: { realm: string; config: EventsConfig | undefined }) {
  const { api, place } = useAdministration();
  const [open, setOpen] = useState<AdminEvent>();
  const set = useFilters(FILTERS);
  const filtered = Object.values(set).some((value) => value !== '');
  return (
    <>
      <EventFilters label="Filter the events of administrators" filters={FILTERS} />
      <PagedTable<AdminEvent>
        label="Administrator events"
        name={['admin-events', realm, ...Object.values(set)]}
        inAddress
        rowKey={(event) => event.id ?? `${event.time} ${event.resourcePath}`}
        list={async ({ first, max }) => {
          const { operation, resource, by = '', ip, from = '', to = '' } = set;
          // Administrators belong to this realm or to the realm of the console.
          const id = by === '' ? '' : await findUserId(api, [...new Set([realm, place.realm])], by);
          if (id === undefined) return [];
          return api.get(path`/${realm}/admin-events`, {
            operationTypes: operation,
            resourceTypes: resource,
            authUser: id,
            authIpAddress: ip,
            dateFrom: from === '' ? '' : startOfDay(from),
            dateTo: to === '' ? '' : startOfDay(to, 1) - 1,
            first,
            max,
          });
        }}
        empty={
          filtered
            ? 'No events match the filters'
            : config?.adminEventsEnabled === false
              ? 'This realm does not store administrator events'
              : 'No events'
        }
        {...(config?.adminEventsEnabled === false ? { emptyHelp: <NotStored realm={realm} /> } : {})}
        columns={[
          { title: 'Time', cell: (event) => formatTime(event.time) },
          {
            title: 'What was done',
            cell: (event) => (
              <Label color={event.error === undefined ? 'blue' : 'red'}>
                {operationTitle(event.operationType)}
              </Label>
            ),
          },
          {
            title: 'To what',
            cell: (event) => <Target realm={realm} resource={readResource(event.resourcePath)} />,
          },
          { title: 'Administrator', cell: (event) => <By realm={realm} event={event} /> },
          {
            title: 'Address',
            cell: (event) => <span className="address">{event.authDetails?.ipAddress}</span>,
          },
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
          title={operationTitle(open.operationType)}
          rows={[
            ['Time', formatTime(open.time)],
            ['To what', <Target key="what" realm={realm} resource={readResource(open.resourcePath)} />],
            ['Administrator', <By key="by" realm={realm} event={open} />],
            ['Address', open.authDetails?.ipAddress],
            ['Error', open.error],
            ['Operation', open.operationType],
            ['Resource', `${open.resourceType} ${open.resourcePath}`],
          ]}
          text={open.representation}
          onClose={() => setOpen(undefined)}
        />
      )}
    </>
  );
}

/** The administrator, who may belong to another realm. */
function By({ realm, event }: { realm: string; event: AdminEvent }) {
  const realms = useRealms();
  const { realmId, userId } = event.authDetails ?? {};
  if (userId === undefined) return '';
  const own = realms.data?.find(({ id }) => id === realmId)?.realm ?? realm;
  return (
    <>
      <UserName realm={own} id={userId} />
      {own === realm ? '' : ` of ${own}`}
    </>
  );
}

const NAMES = {
  user: ['User', UserName],
  client: ['Client', ClientName],
  group: ['Group', GroupName],
  role: ['Role', RoleName],
  'client-scope': ['Client scope', ClientScopeName],
} as const;

/** The changed record, with its name instead of its id. */
function Target({ realm, resource }: { realm: string; resource: Resource }) {
  const { kind, id, part } = resource;
  if (kind === 'other') return <span className="anywhere">{otherTitle(id)}</span>;
  const [title, Name] = NAMES[kind];
  return (
    <>
      {title} <Name realm={realm} id={id} />
      {part === '' ? '' : `: ${part}`}
    </>
  );
}
