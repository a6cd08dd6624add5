import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { address } from '../address/address.ts';
import { AdminFault, path } from '../api/admin-api.ts';
import type { Client, ClientScope, Group, Role, User } from '../api/representations.ts';
import { useApi } from './session.tsx';

/** How long a name is shown without asking again, in milliseconds. */
const FRESH = 60_000;

/** A record that is known by its id: shows its name, with a link to it. A deleted record, or one that the user may not see, keeps its id. */
function Named<T>(props: {
  queryKey: readonly string[];
  place: string;
  id: string;
  nameOf: (record: T) => string;
  href: string;
}): ReactNode {
  const api = useApi();
  const found = useQuery({
    queryKey: props.queryKey,
    queryFn: () => api.get<T>(props.place),
    staleTime: FRESH,
    retry: false,
  });
  if (found.data !== undefined) return <Link href={props.href}>{props.nameOf(found.data)}</Link>;
  if (found.error === null) return '…';
  const isDeleted = found.error instanceof AdminFault && found.error.status === 404;
  return (
    <>
      <code>{props.id}</code>
      {isDeleted ? ', deleted' : ''}
    </>
  );
}

/** The username of a user who is known by the id. */
export function UserName({ realm, id }: { realm: string; id: string }) {
  return (
    <Named<User>
      queryKey={['users', realm, id]}
      place={path`/${realm}/users/${id}`}
      id={id}
      nameOf={({ username }) => username}
      href={address`/${realm}/users/${id}`}
    />
  );
}

/** The client id of a client that is known by its UUID. */
export function ClientName({ realm, id }: { realm: string; id: string }) {
  return (
    <Named<Client>
      queryKey={['clients', realm, id]}
      place={path`/${realm}/clients/${id}`}
      id={id}
      nameOf={({ clientId }) => clientId}
      href={address`/${realm}/clients/${id}`}
    />
  );
}

/** The path of a group that is known by its id. */
export function GroupName({ realm, id }: { realm: string; id: string }) {
  return (
    <Named<Group>
      queryKey={['groups', realm, id]}
      place={path`/${realm}/groups/${id}`}
      id={id}
      nameOf={(group) => group.path}
      href={address`/${realm}/groups/${id}`}
    />
  );
}

/** The name of a role that is known by its id. */
export function RoleName({ realm, id }: { realm: string; id: string }) {
  return (
    <Named<Role>
      queryKey={['roles', realm, id]}
      place={path`/${realm}/roles-by-id/${id}`}
      id={id}
      nameOf={({ name }) => name}
      href={address`/${realm}/roles/${id}`}
    />
  );
}

/** The name of a client scope that is known by its id. */
export function ClientScopeName({ realm, id }: { realm: string; id: string }) {
  return (
    <Named<ClientScope>
      queryKey={['client-scopes', realm, id]}
      place={path`/${realm}/client-scopes/${id}`}
      id={id}
      nameOf={({ name }) => name}
      href={address`/${realm}/client-scopes/${id}`}
    />
  );
}
