import { Title } from '@patternfly/react-core/dist/dynamic/components/Title';
import type { Client } from '../../api/representations.ts';
import { mostGraceSeconds, signatureAlgorithms } from '../../api/service-choices.ts';
import { CheckField, SelectField } from '../../components/choices.tsx';
import { DurationField } from '../../components/duration-field.tsx';
import { errorAt } from '../../components/field-errors.ts';
import { TextField } from '../../components/forms.tsx';
import { RecordForm, useDraft } from '../../components/record-form.tsx';
import { RoleMappings } from '../roles/role-mappings.tsx';
import { useSaveClient } from './save-client.ts';

/** The lifetimes of a client, by attribute. An empty one follows the realm. */
const LIFETIMES = [
  ['access.token.lifespan', 'Access token', 'How long an access token works'],
  [
    'client.session.idle.timeout',
    'Refresh token, unused',
    'How long a refresh token works if it is not used',
  ],
  ['client.session.max.lifespan', 'Session, at most', 'How long a person stays signed in to this client'],
  [
    'client.offline.session.idle.timeout',
    'Offline token, unused',
    'How long an offline token works if it is not used',
  ],
  ['client.offline.session.max.lifespan', 'Offline session, at most', 'How long offline access lasts'],
] as const;

/** The attribute with the grace period in seconds. An empty one follows the realm, and 0 switches it off. */
const GRACE = 'refreshGraceSeconds';
const GRACE_BOUNDS = `A whole number from 0 to ${mostGraceSeconds}`;

/** Attributes that are `true` or `false`, with the value that counts if they are missing. */
const FLAGS = [
  ['use.refresh.tokens', 'Refresh tokens', 'The application can stay signed in without a browser', true],
  [
    'client_credentials.use_refresh_token',
    'Refresh tokens for the service account',
    'Rarely useful: the service can get a new token with its secret',
    false,
  ],
  [
    'client.use.lightweight.access.token.enabled',
    'Small access tokens',
    'Access tokens contain only what mappers add to small tokens',
    false,
  ],
] as const;

/** The settings of a client that most applications leave as they are. */
export function Advanced({ realm, client }: { realm: string; client: Client }) {
  const attributes = client.attributes ?? {};
  const names = [
    ...LIFETIMES.map(([name]) => name),
    ...FLAGS.map(([name]) => name),
    GRACE,
    'access.token.signed.response.alg',
    'id.token.signed.response.alg',
  ];
  const draft = useDraft({
    attributes: Object.fromEntries(names.map((name) => [name, attributes[name] ?? ''])) as Readonly<
      Record<string, string>
    >,
    fullScopeAllowed: client.fullScopeAllowed !== false,
  });
  const save = useSaveClient(realm, client.id, draft.value);
  const set = (name: string) => (value: string) =>
    draft.change({ attributes: { ...draft.value.attributes, [name]: value } });
  const value = (name: string): string => draft.value.attributes[name] ?? '';
  const algorithm = (name: string, label: string) => (
    <SelectField
      label={label}
      value={value(name)}
      onChange={set(name)}
      options={[['', 'The default of the realm'], ...signatureAlgorithms.map((one) => [one, one] as const)]}
    />
  );
  const grace = value(GRACE);
  const graceFault = /^\d+$/.test(grace) && Number(grace) <= mostGraceSeconds ? undefined : GRACE_BOUNDS;
  return (
    <>
      <RecordForm
        change={save}
        draft={draft}
        disabled={
          LIFETIMES.some(([name]) => Number.isNaN(Number(value(name)))) ||
          (grace !== '' && graceFault !== undefined)
        }
      >
        {LIFETIMES.map(([name, label, help]) => (
          <DurationField
            key={name}
            label={label}
            seconds={Number(value(name))}
            onChange={(seconds) => set(name)(seconds === 0 ? '' : String(seconds))}
            zero="As in the realm"
            help={help}
          />
        ))}
        <TextField
          label="Grace period after a lost response, in seconds"
          value={grace}
          onChange={(text) => set(GRACE)(text.trim())}
          error={errorAt(save, GRACE) ?? (grace === '' ? undefined : graceFault)}
          help={`If the application loses the response to a refresh, it gets the same new token again within this time. ${GRACE_BOUNDS}. Empty: as in the realm. 0: every refresh token works once`}
        />
        {FLAGS.map(([name, label, help, usual]) => (
          <CheckField
            key={name}
            label={label}
            help={help}
            checked={value(name) === '' ? usual : value(name) === 'true'}
            onChange={(checked) => set(name)(String(checked))}
          />
        ))}
        {algorithm('access.token.signed.response.alg', 'Signature of access tokens')}
        {algorithm('id.token.signed.response.alg', 'Signature of ID tokens')}
        <CheckField
          label="Tokens may contain every role of the user"
          help="Otherwise only the roles below, those of the client and those of its scopes"
          checked={draft.value.fullScopeAllowed}
          onChange={(fullScopeAllowed) => draft.change({ fullScopeAllowed })}
        />
      </RecordForm>
      {client.fullScopeAllowed === false ? (
        <>
          <Title headingLevel="h2">Roles that tokens may contain</Title>
          <RoleMappings realm={realm} holder={{ kind: 'client', id: client.id }} />
        </>
      ) : null}
    </>
  );
}
