import { Button } from '@patternfly/react-core/dist/dynamic/components/Button';
import { useQuery } from '@tanstack/react-query';
import { address } from '../../address/address.ts';
import { path } from '../../api/admin-api.ts';
import type { Realm } from '../../api/representations.ts';
import { ConfirmButton } from '../../components/forms.tsx';
import { RecordScreen, type RecordTab } from '../../components/record-screen.tsx';
import { useRights } from '../../components/rights.tsx';
import { useChange } from '../../components/service-calls.tsx';
import { useApi } from '../../components/session.tsx';
import { SettingsForm, type SettingsSection } from '../../components/settings-form.tsx';
import { EventSettings } from './event-settings.tsx';
import { ExportButton } from './export-button.tsx';
import { Languages } from './languages.tsx';
import { RealmState } from './realm-state.tsx';
import { BRUTE_FORCE, GENERAL, HEADERS, LOGIN, SESSIONS, TOKENS } from './settings-fields.ts';
import { Themes } from './themes.tsx';

/** The settings of a realm, in tabs. */
export function RealmSettingsScreen({ realm, tab }: { realm: string; tab?: string }) {
  const api = useApi();
  const rights = useRights(realm);
  const found = useQuery({ queryKey: ['realm', realm], queryFn: () => api.get<Realm>(path`/${realm}`) });
  const readOnly = !rights.has('manage-realm');
  const form = (record: Realm, sections: readonly SettingsSection[]) => (
    <RealmForm realm={realm} record={record} sections={sections} readOnly={readOnly} />
  );
  return (
    <RecordScreen
      realm={realm}
      of={found}
      title={() => 'Realm settings'}
      label="Settings of the realm"
      base={address`/${realm}/settings`}
      tab={tab}
      actions={() => <ExportButton realm={realm} />}
      tabs={(record): readonly [RecordTab, ...RecordTab[]] => [
        {
          name: 'general',
          title: 'General',
          content: (
            <>
              {form(record, GENERAL)}
              <RealmState realm={record} readOnly={readOnly} />
            </>
          ),
        },
        { name: 'login', title: 'Login', content: form(record, LOGIN) },
        { name: 'tokens', title: 'Tokens', content: form(record, TOKENS) },
        {
          name: 'sessions',
          title: 'Sessions',
          content: (
            <>
              {form(record, SESSIONS)}
              <SignOutAll realm={realm} />
            </>
          ),
        },
        {
          name: 'brute-force',
          title: 'Brute force',
          content: (
            <>
              {form(record, BRUTE_FORCE)}
              <UnlockAll realm={realm} />
            </>
          ),
        },
        { name: 'events', title: 'Events', content: <EventSettings realm={realm} /> },
        {
          name: 'themes',
          title: 'Themes',
          content: <Themes realm={realm} record={record} readOnly={readOnly} />,
        },
        { name: 'headers', title: 'Security headers', content: form(record, HEADERS) },
        {
          name: 'languages',
          title: 'Languages',
          content: <Languages realm={realm} record={record} readOnly={readOnly} />,
        },
      ]}
    />
  );
}

function RealmForm(props: {
  realm: string;
  record: Realm;
  sections: readonly SettingsSection[];
  readOnly: boolean;
}) {
  const api = useApi();
  return (
    <SettingsForm
      record={props.record}
      sections={props.sections}
      readOnly={props.readOnly}
      notice={{ done: 'The settings were saved', failed: 'The settings were not saved' }}
      save={(changed) => api.send('PUT', path`/${props.realm}`, changed)}
    />
  );
}

function SignOutAll({ realm }: { realm: string }) {
  const api = useApi();
  const change = useChange(
    { done: 'All users were signed out', failed: 'The users were not signed out' },
    () => api.send('POST', path`/${realm}/logout-all`),
  );
  const invalidate = useChange(
    { done: 'All tokens issued until now are invalid', failed: 'The tokens were not invalidated' },
    () => api.send('PUT', path`/${realm}`, { notBefore: Math.floor(Date.now() / 1000) }),
  );
  return (
    <div className="further buttons">
      <ConfirmButton
        label="Sign out all users"
        title={`Sign out all users of ${realm}?`}
        description="Every online session of the realm ends now. Access tokens stay valid until they expire. Offline sessions continue."
        submit="Sign out all"
        change={change}
      />
      <ConfirmButton
        label="Invalidate all tokens"
        title={`Invalidate all tokens of ${realm}?`}
        description="Every token that was issued until now becomes invalid, offline tokens included. Use it after a theft of tokens or keys."
        submit="Invalidate"
        change={invalidate}
      />
    </div>
  );
}

function UnlockAll({ realm }: { realm: string }) {
  const api = useApi();
  const change = useChange(
    { done: 'The failures of all users were removed', failed: 'The users were not unlocked' },
    () => api.send('DELETE', path`/${realm}/attack-detection/brute-force/users`),
  );
  return (
    <div className="further">
      <Button variant="secondary" isLoading={change.running} onClick={() => void change.run()}>
        Unlock all temporarily locked users
      </Button>
    </div>
  );
}
