import { useQuery } from '@tanstack/react-query';
import { address, leaveTo } from '../../address/address.ts';
import { path } from '../../api/admin-api.ts';
import type { ClientScope } from '../../api/representations.ts';
import { CheckField } from '../../components/choices.tsx';
import { errorAt } from '../../components/field-errors.ts';
import { ConfirmButton, TextField } from '../../components/forms.tsx';
import { RecordForm, useDraft } from '../../components/record-form.tsx';
import { RecordScreen } from '../../components/record-screen.tsx';
import { useChange } from '../../components/service-calls.tsx';
import { useApi } from '../../components/session.tsx';
import { RoleMappings } from '../roles/role-mappings.tsx';
import { Mappers } from './mappers.tsx';

/** A client scope with its mappers and the roles that it adds to tokens. */
export function ClientScopeScreen({ realm, id, tab }: { realm: string; id: string; tab?: string }) {
  const api = useApi();
  const place = path`/${realm}/client-scopes/${id}`;
  const scope = useQuery({
    queryKey: ['client-scopes', realm, id],
    queryFn: () => api.get<ClientScope>(place),
  });
  return (
    <RecordScreen
      realm={realm}
      of={scope}
      title={({ name }) => name}
      label="Parts of this client scope"
      base={address`/${realm}/client-scopes/${id}`}
      tab={tab}
      tabs={(found) => [
        { name: 'settings', title: 'Settings', content: <Settings key={id} realm={realm} scope={found} /> },
        { name: 'mappers', title: 'Mappers', content: <Mappers key={id} place={place} /> },
        {
          name: 'roles',
          title: 'Roles in scope',
          content: <RoleMappings key={id} realm={realm} holder={{ kind: 'client-scope', id }} />,
        },
      ]}
    />
  );
}

const CONSENT_TEXT = 'consent.screen.text';
const ON_CONSENT = 'display.on.consent.screen';
const IN_TOKEN = 'include.in.token.scope';

function Settings({ realm, scope }: { realm: string; scope: ClientScope }) {
  const api = useApi();
  const attributes = scope.attributes ?? {};
  const place = path`/${realm}/client-scopes/${scope.id}`;
  const draft = useDraft({
    name: scope.name,
    description: scope.description ?? '',
    onConsent: attributes[ON_CONSENT] !== 'false',
    consentText: attributes[CONSENT_TEXT] ?? '',
    inToken: attributes[IN_TOKEN] !== 'false',
  });
  const { name, description, onConsent, consentText, inToken } = draft.value;
  const save = useChange({ done: 'The scope was saved', failed: 'The scope was not saved' }, async () => {
    // The attributes are replaced as a whole.
    const stored = await api.get<ClientScope>(place);
    await api.send('PUT', place, {
      ...stored,
      name,
      description,
      attributes: {
        ...stored.attributes,
        [ON_CONSENT]: String(onConsent),
        [CONSENT_TEXT]: consentText,
        [IN_TOKEN]: String(inToken),
      },
    });
  });
  const remove = useChange(
    { done: `Client scope ${scope.name} was deleted`, failed: 'The client scope was not deleted' },
    async () => {
      await api.send('DELETE', place);
      leaveTo(address`/${realm}/client-scopes`);
    },
  );
  return (
    <RecordForm
      change={save}
      draft={draft}
      actions={
        <ConfirmButton
          label="Delete client scope"
          title={`Delete ${scope.name}?`}
          description="Every client loses it. New tokens no longer contain its claims and roles."
          submit="Delete"
          change={remove}
        />
      }
    >
      <TextField
        label="Name"
        required
        value={name}
        error={errorAt(save, 'name')}
        onChange={(text) => draft.change({ name: text })}
        help="Applications name the scope in their requests"
      />
      <TextField
        label="Description"
        value={description}
        onChange={(text) => draft.change({ description: text })}
      />
      <CheckField
        label="Name it on the consent page"
        checked={onConsent}
        onChange={(checked) => draft.change({ onConsent: checked })}
      />
      {onConsent ? (
        <TextField
          label="Text for consent"
          value={consentText}
          onChange={(text) => draft.change({ consentText: text })}
          help="What people read, such as: Your address. Empty: the name"
        />
      ) : null}
      <CheckField
        label="Name it in tokens"
        help="In the claim scope"
        checked={inToken}
        onChange={(checked) => draft.change({ inToken: checked })}
      />
    </RecordForm>
  );
}
