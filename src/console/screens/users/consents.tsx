import { path } from '../../api/admin-api.ts';
import type { Consent, User } from '../../api/representations.ts';
import { ConfirmButton } from '../../components/forms.tsx';
import { formatTime, PagedTable } from '../../components/paged-table.tsx';
import { useChange } from '../../components/service-calls.tsx';
import { useApi } from '../../components/session.tsx';

/** The clients to which the user consented, and those with offline access. */
export function Consents({ realm, user }: { realm: string; user: User }) {
  const api = useApi();
  return (
    <PagedTable<Consent>
      label="Consents"
      name={['consents', realm, user.id]}
      rowKey={(consent) => consent.clientId}
      list={async ({ first, max }) => {
        const all = await api.get<readonly Consent[]>(path`/${realm}/users/${user.id}/consents`);
        return all.slice(first, first + max);
      }}
      empty="No consents"
      columns={[
        { title: 'Client', cell: ({ clientId }) => clientId },
        { title: 'Scopes', cell: ({ grantedClientScopes = [] }) => grantedClientScopes.join(', ') },
        {
          title: 'Offline access',
          cell: ({ additionalGrants = [] }) => (additionalGrants.length > 0 ? 'Yes' : 'No'),
        },
        { title: 'Granted', cell: ({ createdDate }) => formatTime(createdDate) },
        { title: 'Changed', cell: ({ lastUpdatedDate }) => formatTime(lastUpdatedDate) },
        { title: '', cell: (consent) => <Revoke realm={realm} user={user} consent={consent} /> },
      ]}
    />
  );
}

function Revoke({ realm, user, consent }: { realm: string; user: User; consent: Consent }) {
  const api = useApi();
  const change = useChange(
    { done: `The consent to ${consent.clientId} was revoked`, failed: 'The consent was not revoked' },
    () => api.send('DELETE', path`/${realm}/users/${user.id}/consents/${consent.clientId}`),
  );
  return (
    <ConfirmButton
      inline
      label="Revoke"
      name={`Revoke the consent to ${consent.clientId}`}
      title={`Revoke the consent to ${consent.clientId}?`}
      description={`${user.username} is signed out of the client, its offline access ends, and the next sign-in asks again.`}
      submit="Revoke"
      change={change}
    />
  );
}
