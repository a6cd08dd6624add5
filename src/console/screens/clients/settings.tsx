import { FormFieldGroup, FormFieldGroupHeader } from '@patternfly/react-core/dist/dynamic/components/Form';
import { Switch } from '@patternfly/react-core/dist/dynamic/components/Switch';
import type { ReactNode } from 'react';
import { address, leaveTo } from '../../address/address.ts';
import { path } from '../../api/admin-api.ts';
import type { Client } from '../../api/representations.ts';
import { CheckField, filledLines, LinesField, SelectField } from '../../components/choices.tsx';
import { errorAt } from '../../components/field-errors.ts';
import { ConfirmButton, TextField } from '../../components/forms.tsx';
import { RecordForm, useDraft } from '../../components/record-form.tsx';
import { useRights } from '../../components/rights.tsx';
import { useChange } from '../../components/service-calls.tsx';
import { useApi } from '../../components/session.tsx';
import { useSaveClient } from './save-client.ts';

/** The attribute that lists where the browser may go after a sign-out, separated by `##`. */
const LOGOUT_URIS = 'post.logout.redirect.uris';
const PKCE = 'pkce.code.challenge.method';

/** The fields of a client that every application needs. */
export function Settings({ realm, client }: { realm: string; client: Client }) {
  const api = useApi();
  const attributes = client.attributes ?? {};
  const draft = useDraft({
    clientId: client.clientId,
    name: client.name ?? '',
    description: client.description ?? '',
    enabled: client.enabled,
    publicClient: client.publicClient === true,
    standardFlowEnabled: client.standardFlowEnabled === true,
    implicitFlowEnabled: client.implicitFlowEnabled === true,
    directAccessGrantsEnabled: client.directAccessGrantsEnabled === true,
    serviceAccountsEnabled: client.serviceAccountsEnabled === true,
    consentRequired: client.consentRequired === true,
    frontchannelLogout: client.frontchannelLogout === true,
    rootUrl: client.rootUrl ?? '',
    baseUrl: client.baseUrl ?? '',
    redirectUris: client.redirectUris ?? ([] as readonly string[]),
    webOrigins: client.webOrigins ?? ([] as readonly string[]),
    logoutUris: filledLines((attributes[LOGOUT_URIS] ?? '').split('##')),
    pkce: attributes[PKCE] ?? '',
    backChannelUrl: attributes['backchannel.logout.url'] ?? '',
    frontChannelUrl: attributes['frontchannel.logout.url'] ?? '',
  });
  const { logoutUris, pkce, backChannelUrl, frontChannelUrl, ...fields } = draft.value;
  const save = useSaveClient(realm, client.id, {
    ...fields,
    // A public client cannot have a service account.
    serviceAccountsEnabled: fields.serviceAccountsEnabled && !fields.publicClient,
    redirectUris: filledLines(fields.redirectUris),
    webOrigins: filledLines(fields.webOrigins),
    attributes: {
      [LOGOUT_URIS]: filledLines(logoutUris).join('##'),
      [PKCE]: pkce,
      'backchannel.logout.url': backChannelUrl,
      'frontchannel.logout.url': frontChannelUrl,
    },
  });
  const { undo } = useRights(realm);
  const remove = useChange(
    { done: `Client ${client.clientId} was deleted`, failed: 'The client was not deleted' },
    async () => {
      await api.send('DELETE', path`/${realm}/clients/${client.id}`);
      leaveTo(address`/${realm}/clients`);
    },
  );
  const { change } = draft;
  return (
    <RecordForm
      change={save}
      draft={draft}
      actions={
        <ConfirmButton
          label="Delete client"
          title={`Delete ${client.clientId}?`}
          typed={client.clientId}
          submit="Delete"
          description={`This deletes the client, its roles and its part of every session. Its application stops working. ${undo}`}
          change={remove}
        />
      }
    >
      <Switch
        id="enabled"
        label="Enabled: the application can get tokens"
        isChecked={fields.enabled}
        onChange={(_event, enabled) => change({ enabled })}
      />
      <TextField
        label="Client id"
        required
        value={fields.clientId}
        onChange={(clientId) => change({ clientId })}
        error={errorAt(save, 'clientId')}
        help="A new id must be entered in the application too"
      />
      <TextField
        label="Name"
        value={fields.name}
        onChange={(name) => change({ name })}
        help="People see it when they sign in and in their account"
      />
      <TextField
        label="Description"
        value={fields.description}
        onChange={(description) => change({ description })}
      />
      <Group id="ways" title="How the application gets tokens">
        <CheckField
          label="It keeps a secret"
          help="For applications with a server, and for services. Without it, the client is public."
          checked={!fields.publicClient}
          onChange={(checked) => change({ publicClient: !checked })}
        />
        <CheckField
          label="People sign in with a browser"
          help="The authorization code flow"
          checked={fields.standardFlowEnabled}
          onChange={(standardFlowEnabled) => change({ standardFlowEnabled })}
        />
        <CheckField
          label="Service account"
          help="The application gets tokens for itself, without a user. It needs a secret."
          disabled={fields.publicClient}
          checked={fields.serviceAccountsEnabled && !fields.publicClient}
          onChange={(serviceAccountsEnabled) => change({ serviceAccountsEnabled })}
        />
        <CheckField
          label="The application asks for the password itself"
          help="The password grant. Only for old applications and scripts: it knows no second factor of a page."
          checked={fields.directAccessGrantsEnabled}
          onChange={(directAccessGrantsEnabled) => change({ directAccessGrantsEnabled })}
        />
        <CheckField
          label="Tokens in the address of the browser"
          help="The implicit flow. Only for old applications: tokens can leak."
          checked={fields.implicitFlowEnabled}
          onChange={(implicitFlowEnabled) => change({ implicitFlowEnabled })}
        />
        <SelectField
          label="Proof key for code exchange (PKCE)"
          value={pkce}
          onChange={(method) => change({ pkce: method })}
          options={[
            ['S256', 'Required, with S256'],
            ['plain', 'Required, plain'],
            ['', 'Not required'],
          ]}
          help="Protects the code of a sign-in. Current libraries send it."
        />
      </Group>
      {fields.standardFlowEnabled || fields.implicitFlowEnabled ? (
        <Group id="addresses" title="Addresses">
          <LinesField
            label="Redirect URIs, one per line"
            value={fields.redirectUris}
            onChange={(redirectUris) => change({ redirectUris })}
            error={errorAt(save, 'redirectUris')}
            help="Where the browser may return after a sign-in. Exact addresses are safest."
          />
          <LinesField
            label="Addresses after a sign-out, one per line"
            value={logoutUris}
            onChange={(uris) => change({ logoutUris: uris })}
            help="+ means the redirect URIs"
          />
          <LinesField
            label="Web origins, one per line"
            value={fields.webOrigins}
            onChange={(webOrigins) => change({ webOrigins })}
            error={errorAt(save, 'webOrigins')}
            help="Whose scripts may call the service, such as https://app.example.org. + means the origins of the redirect URIs."
          />
          <TextField
            label="Home page"
            type="text"
            value={fields.baseUrl}
            onChange={(baseUrl) => change({ baseUrl })}
            error={errorAt(save, 'baseUrl')}
            help="Where links to the application lead"
          />
          <TextField
            label="Root URL"
            type="text"
            value={fields.rootUrl}
            onChange={(rootUrl) => change({ rootUrl })}
            error={errorAt(save, 'rootUrl')}
            help="Put before addresses that start with /"
          />
        </Group>
      ) : null}
      <Group id="people" title="People">
        <CheckField
          label="Ask for consent"
          help="Each person is asked once which data the application may get"
          checked={fields.consentRequired}
          onChange={(consentRequired) => change({ consentRequired })}
        />
        <TextField
          label="Back-channel logout URL"
          value={backChannelUrl}
          onChange={(url) => change({ backChannelUrl: url })}
          help="The service calls it when a session ends"
        />
        <CheckField
          label="Front-channel logout"
          help="The browser calls the application at a sign-out"
          checked={fields.frontchannelLogout}
          onChange={(frontchannelLogout) => change({ frontchannelLogout })}
        />
        {fields.frontchannelLogout ? (
          <TextField
            label="Front-channel logout URL"
            value={frontChannelUrl}
            onChange={(url) => change({ frontChannelUrl: url })}
          />
        ) : null}
      </Group>
    </RecordForm>
  );
}

function Group(props: { id: string; title: string; children: ReactNode }) {
  return (
    <FormFieldGroup
      header={<FormFieldGroupHeader titleText={{ id: `group-${props.id}`, text: props.title }} />}
    >
      {props.children}
    </FormFieldGroup>
  );
}
