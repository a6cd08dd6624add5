import { Button } from '@patternfly/react-core/dist/dynamic/components/Button';
import { ClipboardCopy } from '@patternfly/react-core/dist/dynamic/components/ClipboardCopy';
import { ActionGroup, Form, FormGroup } from '@patternfly/react-core/dist/dynamic/components/Form';
import { Switch } from '@patternfly/react-core/dist/dynamic/components/Switch';
import { TextArea } from '@patternfly/react-core/dist/dynamic/components/TextArea';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { address } from '../address/address.ts';
import { path } from '../api/admin-api.ts';
import type { Client, User } from '../api/representations.ts';
import { ClientRoles } from '../components/client-roles.tsx';
import { ConfirmButton, TextField } from '../components/forms.tsx';
import { RecordScreen } from '../components/record-screen.tsx';
import { RoleAssignments } from '../components/role-assignments.tsx';
import { Loaded, useChange } from '../components/service-calls.tsx';
import { useApi } from '../components/session.tsx';

/** A client with its settings, secret, roles and service account. */
export function ClientScreen({ realm, id, tab }: { realm: string; id: string; tab?: string }) {
  const api = useApi();
  const client = useQuery({
    queryKey: ['clients', realm, id],
    queryFn: () => api.get<Client>(path`/${realm}/clients/${id}`),
  });
  return (
    <RecordScreen
      realm={realm}
      of={client}
      title={({ clientId }) => clientId}
      label="Parts of this client"
      base={address`/${realm}/clients/${id}`}
      tab={tab}
      tabs={(found) => [
        {
          name: 'settings',
          title: 'Settings',
          content: <Settings key={found.id} realm={realm} client={found} />,
        },
        ...(found.publicClient === true || found.bearerOnly === true
          ? []
          : [{ name: 'secret', title: 'Secret', content: <Secret realm={realm} id={id} /> }]),
        { name: 'roles', title: 'Roles', content: <ClientRoles realm={realm} id={id} /> },
        ...(found.serviceAccountsEnabled === true
          ? [{ name: 'account', title: 'Service account', content: <ServiceAccount realm={realm} id={id} /> }]
          : []),
      ]}
    />
  );
}

const lines = (text: string): readonly string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

function Settings({ realm, client }: { realm: string; client: Client }) {
  const api = useApi();
  const [, navigate] = useLocation();
  const [enabled, setEnabled] = useState(client.enabled);
  const [name, setName] = useState(client.name ?? '');
  const [description, setDescription] = useState(client.description ?? '');
  const [redirectUris, setRedirectUris] = useState((client.redirectUris ?? []).join('\n'));
  const [webOrigins, setWebOrigins] = useState((client.webOrigins ?? []).join('\n'));
  const save = useChange({ done: 'The client was saved', failed: 'The client was not saved' }, async () => {
    const now = await api.get<Client>(path`/${realm}/clients/${client.id}`);
    await api.send('PUT', path`/${realm}/clients/${client.id}`, {
      ...now,
      enabled,
      name,
      description,
      redirectUris: lines(redirectUris),
      webOrigins: lines(webOrigins),
    });
  });
  const remove = useChange(
    { done: `Client ${client.clientId} was deleted`, failed: 'The client was not deleted' },
    async () => {
      await api.send('DELETE', path`/${realm}/clients/${client.id}`);
      navigate(`/${encodeURIComponent(realm)}/clients`);
    },
  );
  return (
    <Form
      isWidthLimited
      onSubmit={(event) => {
        event.preventDefault();
        void save.run();
      }}
    >
      <TextField label="Name" value={name} onChange={setName} help="Shown on the consent page" />
      <TextField label="Description" value={description} onChange={setDescription} />
      <LinesField
        id="redirect-uris"
        label="Redirect URIs, one per line"
        value={redirectUris}
        onChange={setRedirectUris}
      />
      <LinesField
        id="web-origins"
        label="Web origins, one per line; + means the origins of the redirect URIs"
        value={webOrigins}
        onChange={setWebOrigins}
      />
      <Switch
        id="enabled"
        label="Enabled"
        isChecked={enabled}
        onChange={(_event, checked) => setEnabled(checked)}
      />
      <ActionGroup>
        <Button type="submit" isLoading={save.running}>
          Save
        </Button>
        <ConfirmButton
          label="Delete client"
          title={`Delete ${client.clientId}?`}
          description="This deletes the client, its roles and its part of every session. It cannot be undone."
          submit="Delete"
          change={remove}
        />
      </ActionGroup>
    </Form>
  );
}

function LinesField(props: { id: string; label: string; value: string; onChange: (value: string) => void }) {
  return (
    <FormGroup label={props.label} fieldId={props.id}>
      <TextArea
        id={props.id}
        value={props.value}
        onChange={(_event, value) => props.onChange(value)}
        resizeOrientation="vertical"
      />
    </FormGroup>
  );
}

function Secret({ realm, id }: { realm: string; id: string }) {
  const api = useApi();
  const [shown, setShown] = useState(false);
  const secretPath = path`/${realm}/clients/${id}/client-secret`;
  const secret = useQuery({
    queryKey: ['secret', realm, id],
    queryFn: () => api.get<{ value?: string }>(secretPath),
    enabled: shown,
    gcTime: 0,
  });
  const change = useChange(
    { done: 'The client has a new secret', failed: 'The secret was not changed' },
    () => api.send('POST', secretPath),
  );
  return (
    <div>
      {shown ? (
        <Loaded of={secret}>
          {({ value }) =>
            value === undefined ? (
              <p>This client has no secret.</p>
            ) : (
              <ClipboardCopy isReadOnly hoverTip="Copy" clickTip="Copied" aria-label="Client secret">
                {value}
              </ClipboardCopy>
            )
          }
        </Loaded>
      ) : (
        <Button variant="secondary" onClick={() => setShown(true)}>
          Show secret
        </Button>
      )}{' '}
      <ConfirmButton
        label="New secret"
        title="Generate a new secret?"
        description="The old secret stops working immediately. Every instance of the application needs the new one."
        submit="Generate"
        change={change}
      />
    </div>
  );
}

function ServiceAccount({ realm, id }: { realm: string; id: string }) {
  const api = useApi();
  const account = useQuery({
    queryKey: ['service-account', realm, id],
    queryFn: () => api.get<User>(path`/${realm}/clients/${id}/service-account-user`),
  });
  return <Loaded of={account}>{(user) => <RoleAssignments realm={realm} userId={user.id} />}</Loaded>;
}
