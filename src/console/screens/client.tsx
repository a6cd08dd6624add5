import { Button } from '@patternfly/react-core/dist/dynamic/components/Button';
import { ClipboardCopy } from '@patternfly/react-core/dist/dynamic/components/ClipboardCopy';
import { ActionGroup, Form, FormGroup } from '@patternfly/react-core/dist/dynamic/components/Form';
import { Switch } from '@patternfly/react-core/dist/dynamic/components/Switch';
import { Tab, Tabs, TabTitleText } from '@patternfly/react-core/dist/dynamic/components/Tabs';
import { TextArea } from '@patternfly/react-core/dist/dynamic/components/TextArea';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { path } from '../api/admin-api.ts';
import type { Client, User } from '../api/representations.ts';
import { useAct } from '../parts/act.tsx';
import { ClientRoles } from '../parts/client-roles.tsx';
import { FormDialog } from '../parts/dialog.tsx';
import { TextField } from '../parts/field.tsx';
import { Screen } from '../parts/frame.tsx';
import { Loaded } from '../parts/loading.tsx';
import { RoleAssignments } from '../parts/role-assignments.tsx';
import { useApi } from '../parts/session.tsx';

/** One client: its settings, secret, roles and service account. */
export function ClientScreen({ realm, id }: { realm: string; id: string }) {
  const api = useApi();
  const [tab, setTab] = useState<string | number>('settings');
  const client = useQuery({
    queryKey: ['clients', realm, id],
    queryFn: () => api.get<Client>(path`/${realm}/clients/${id}`),
  });
  return (
    <Loaded of={client}>
      {(found) => (
        <Screen title={found.clientId} realm={realm}>
          <Tabs
            aria-label="Of this client"
            activeKey={tab}
            onSelect={(_event, key) => setTab(key)}
            mountOnEnter
            unmountOnExit
          >
            <Tab eventKey="settings" title={<TabTitleText>Settings</TabTitleText>}>
              <Settings key={found.id} realm={realm} client={found} />
            </Tab>
            {found.publicClient === true || found.bearerOnly === true ? null : (
              <Tab eventKey="secret" title={<TabTitleText>Secret</TabTitleText>}>
                <Secret realm={realm} id={id} />
              </Tab>
            )}
            <Tab eventKey="roles" title={<TabTitleText>Roles</TabTitleText>}>
              <ClientRoles realm={realm} id={id} />
            </Tab>
            {found.serviceAccountsEnabled === true ? (
              <Tab eventKey="account" title={<TabTitleText>Service account</TabTitleText>}>
                <ServiceAccount realm={realm} id={id} />
              </Tab>
            ) : null}
          </Tabs>
        </Screen>
      )}
    </Loaded>
  );
}

const lines = (text: string): readonly string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

function Settings({ realm, client }: { realm: string; client: Client }) {
  const api = useApi();
  const [, goTo] = useLocation();
  const [removing, setRemoving] = useState(false);
  const [enabled, setEnabled] = useState(client.enabled);
  const [name, setName] = useState(client.name ?? '');
  const [description, setDescription] = useState(client.description ?? '');
  const [redirectUris, setRedirectUris] = useState((client.redirectUris ?? []).join('\n'));
  const [webOrigins, setWebOrigins] = useState((client.webOrigins ?? []).join('\n'));
  const save = useAct({ done: 'Saved', failed: 'Not saved' }, async () => {
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
  const remove = useAct({ done: `Client ${client.clientId} is gone`, failed: 'Not deleted' }, async () => {
    await api.send('DELETE', path`/${realm}/clients/${client.id}`);
    goTo(`/${encodeURIComponent(realm)}/clients`);
  });
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
      <FormGroup label="Redirect URIs, one a line" fieldId="redirect-uris">
        <TextArea
          id="redirect-uris"
          value={redirectUris}
          onChange={(_event, value) => setRedirectUris(value)}
          resizeOrientation="vertical"
        />
      </FormGroup>
      <FormGroup
        label="Web origins, one a line; + stands for those of the redirect URIs"
        fieldId="web-origins"
      >
        <TextArea
          id="web-origins"
          value={webOrigins}
          onChange={(_event, value) => setWebOrigins(value)}
          resizeOrientation="vertical"
        />
      </FormGroup>
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
        <Button variant="link" isDanger onClick={() => setRemoving(true)}>
          Delete client
        </Button>
      </ActionGroup>
      {removing ? (
        <FormDialog
          title={`Delete ${client.clientId}?`}
          description="The client, its roles and its part of every session go for good."
          submit="Delete"
          danger
          act={remove}
          onClose={() => setRemoving(false)}
        />
      ) : null}
    </Form>
  );
}

function Secret({ realm, id }: { realm: string; id: string }) {
  const api = useApi();
  const [asking, setAsking] = useState(false);
  const [shown, setShown] = useState(false);
  const secretPath = path`/${realm}/clients/${id}/client-secret`;
  const secret = useQuery({
    queryKey: ['secret', realm, id],
    queryFn: () => api.get<{ value?: string }>(secretPath),
    enabled: shown,
    gcTime: 0,
  });
  const act = useAct({ done: 'A new secret is in force', failed: 'The secret stays as it was' }, () =>
    api.send('POST', secretPath),
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
          Show the secret
        </Button>
      )}{' '}
      <Button variant="link" isDanger onClick={() => setAsking(true)}>
        New secret
      </Button>
      {asking ? (
        <FormDialog
          title="Make a new secret?"
          description="The old one stops working at once. Every copy of the application needs the new one."
          submit="Make a new secret"
          danger
          act={act}
          onClose={() => setAsking(false)}
        />
      ) : null}
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
