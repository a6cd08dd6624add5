import { Button } from '@patternfly/react-core/dist/dynamic/components/Button';
import { ClipboardCopy } from '@patternfly/react-core/dist/dynamic/components/ClipboardCopy';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { path } from '../../api/admin-api.ts';
import type { Client } from '../../api/representations.ts';
import { SelectField } from '../../components/choices.tsx';
import { ConfirmButton } from '../../components/forms.tsx';
import { formatTime } from '../../components/paged-table.tsx';
import { RecordForm, useDraft } from '../../components/record-form.tsx';
import { Loaded, useChange } from '../../components/service-calls.tsx';
import { useApi } from '../../components/session.tsx';
import { useSaveClient } from './save-client.ts';

/** How a client proves who it is, by Keycloak's names. */
const METHODS = [
  ['client-secret', 'Secret'],
  ['client-secret-jwt', 'Token signed with the secret'],
] as const;

/** The secret of a client. It is loaded when the user asks for it, and forgotten when the user leaves. */
export function Secret({ realm, client }: { realm: string; client: Client }) {
  const api = useApi();
  const [shown, setShown] = useState(false);
  const secretPath = path`/${realm}/clients/${client.id}/client-secret`;
  const draft = useDraft({ clientAuthenticatorType: client.clientAuthenticatorType ?? 'client-secret' });
  const save = useSaveClient(realm, client.id, draft.value);
  const secret = useQuery({
    queryKey: ['secret', realm, client.id],
    queryFn: () => api.get<{ value?: string }>(secretPath),
    enabled: shown,
    gcTime: 0,
  });
  const change = useChange(
    { done: 'The client has a new secret', failed: 'The secret was not changed' },
    () => api.send('POST', secretPath),
  );
  const created = Number(client.attributes?.['client.secret.creation.time'] ?? 0) * 1000;
  const type = draft.value.clientAuthenticatorType;
  const known = METHODS.some(([name]) => name === type);
  return (
    <>
      <div className="block">
        {shown ? (
          <Loaded of={secret}>
            {({ value }) =>
              value === undefined ? (
                <p>This client has no secret.</p>
              ) : (
                <ClipboardCopy isReadOnly hoverTip="Copy" clickTip="Copied" textAriaLabel="Client secret">
                  {value}
                </ClipboardCopy>
              )
            }
          </Loaded>
        ) : null}
        {created === 0 ? null : <p className="subtle">Generated {formatTime(created)}</p>}
        <Button variant="secondary" onClick={() => setShown(!shown)}>
          {shown ? 'Hide secret' : 'Show secret'}
        </Button>{' '}
        <ConfirmButton
          label="New secret"
          title="Generate a new secret?"
          description="The old secret stops working immediately. Every instance of the application needs the new one."
          submit="Generate"
          change={change}
        />
      </div>
      <RecordForm change={save} draft={draft}>
        <SelectField
          label="The application proves who it is with"
          value={type}
          onChange={(clientAuthenticatorType) => draft.change({ clientAuthenticatorType })}
          options={known ? METHODS : [...METHODS, [type, type] as const]}
        />
      </RecordForm>
    </>
  );
}
