import { FormGroup } from '@patternfly/react-core/dist/dynamic/components/Form';
import { Switch } from '@patternfly/react-core/dist/dynamic/components/Switch';
import { useQuery } from '@tanstack/react-query';
import { address, leaveTo } from '../../address/address.ts';
import { path } from '../../api/admin-api.ts';
import type { Attributes, Realm, User, UserProfile } from '../../api/representations.ts';
import { AttributeFields, attributeLines, readAttributes } from '../../components/attribute-fields.tsx';
import { CheckField, filledLines } from '../../components/choices.tsx';
import { errorAt } from '../../components/field-errors.ts';
import { ConfirmButton, TextField } from '../../components/forms.tsx';
import { formatTime } from '../../components/paged-table.tsx';
import { RecordForm, useDraft } from '../../components/record-form.tsx';
import { useRights } from '../../components/rights.tsx';
import { Loaded, useChange } from '../../components/service-calls.tsx';
import { useApi } from '../../components/session.tsx';
import { Lockout } from './lockout.tsx';
import { BASE_FIELDS, ProfileField } from './profile-fields.tsx';

/** What a user can be made to do at the next sign-in, by Keycloak's names. */
const REQUIRED_ACTIONS: Readonly<Record<string, string>> = {
  UPDATE_PASSWORD: 'Choose a new password',
  UPDATE_PROFILE: 'Check and complete the profile',
  TERMS_AND_CONDITIONS: 'Accept the terms',
};

/** The user's fields, attributes and required actions. */
export function UserDetails({ realm, user }: { realm: string; user: User }) {
  const api = useApi();
  const profile = useQuery({
    queryKey: ['profile', realm],
    queryFn: () => api.get<UserProfile>(path`/${realm}/users/profile`),
  });
  return (
    <>
      <Lockout realm={realm} user={user} />
      <Loaded of={profile}>
        {(definitions) => <DetailsForm realm={realm} user={user} profile={definitions} />}
      </Loaded>
    </>
  );
}

function DetailsForm({ realm, user, profile }: { realm: string; user: User; profile: UserProfile }) {
  const api = useApi();
  // Without the right to view the realm, the username stays fixed.
  const settings = useQuery({
    queryKey: ['realm', realm],
    queryFn: () => api.get<Realm>(path`/${realm}`),
    retry: false,
  });
  const defined = (profile.attributes ?? []).filter(({ name }) => BASE_FIELDS[name] === undefined);
  const names = new Set(defined.map(({ name }) => name));
  const attributes = Object.entries(user.attributes ?? {});
  const draft = useDraft({
    username: user.username,
    email: user.email ?? '',
    firstName: user.firstName ?? '',
    lastName: user.lastName ?? '',
    emailVerified: user.emailVerified,
    enabled: user.enabled,
    requiredActions: user.requiredActions ?? [],
    values: Object.fromEntries(attributes.filter(([name]) => names.has(name))) as Attributes,
    lines: attributeLines(Object.fromEntries(attributes.filter(([name]) => !names.has(name)))),
  });
  const { values, lines, ...fields } = draft.value;
  const filled = Object.entries(values)
    .map(([name, list]) => [name, filledLines(list)] as const)
    .filter(([, list]) => list.length > 0);
  const next = { ...fields, attributes: { ...Object.fromEntries(filled), ...readAttributes(lines) } };
  const place = path`/${realm}/users/${user.id}`;
  const save = useChange({ done: 'The user was saved', failed: 'The user was not saved' }, () =>
    api.send('PUT', place, next),
  );
  const { undo } = useRights(realm);
  const remove = useChange(
    { done: `User ${user.username} was deleted`, failed: 'The user was not deleted' },
    async () => {
      await api.send('DELETE', place);
      leaveTo(address`/${realm}/users`);
    },
  );
  const text = (name: 'username' | 'email' | 'firstName' | 'lastName') => ({
    label: BASE_FIELDS[name]!,
    value: fields[name],
    onChange: (value: string) => draft.change({ [name]: value }),
    error: errorAt(save, name),
  });
  const others = fields.requiredActions.filter((action) => REQUIRED_ACTIONS[action] === undefined);
  return (
    <RecordForm
      change={save}
      draft={draft}
      actions={
        <ConfirmButton
          label="Delete user"
          title={`Delete ${user.username}?`}
          description={`This deletes the user with all credentials and sessions. ${undo}`}
          submit="Delete"
          change={remove}
        />
      }
    >
      <TextField {...text('username')} readOnly={settings.data?.editUsernameAllowed !== true} />
      <TextField {...text('email')} type="email" />
      <CheckField
        label="E-mail verified"
        checked={fields.emailVerified}
        onChange={(emailVerified) => draft.change({ emailVerified })}
      />
      <TextField {...text('firstName')} />
      <TextField {...text('lastName')} />
      {defined.map((attribute) => (
        <ProfileField
          key={attribute.name}
          attribute={attribute}
          values={values[attribute.name] ?? []}
          onChange={(list) => draft.change({ values: { ...values, [attribute.name]: list } })}
        />
      ))}
      <AttributeFields
        label={defined.length === 0 ? 'Attributes' : 'Other attributes'}
        lines={lines}
        onChange={(changed) => draft.change({ lines: changed })}
      />
      <FormGroup
        role="group"
        isStack
        label="The user must do this at the next sign-in"
        fieldId="required-actions"
      >
        {[...Object.keys(REQUIRED_ACTIONS), ...others].map((action) => (
          <CheckField
            key={action}
            label={REQUIRED_ACTIONS[action] ?? action}
            checked={fields.requiredActions.includes(action)}
            onChange={(checked) =>
              draft.change({
                requiredActions: checked
                  ? [...fields.requiredActions, action]
                  : fields.requiredActions.filter((one) => one !== action),
              })
            }
          />
        ))}
      </FormGroup>
      <Switch
        id="enabled"
        label="Enabled: the user can sign in"
        isChecked={fields.enabled}
        onChange={(_event, enabled) => draft.change({ enabled })}
      />
      <p className="subtle">
        Created {formatTime(user.createdTimestamp)} · Id <code>{user.id}</code>
      </p>
    </RecordForm>
  );
}
