import { Button } from '@patternfly/react-core/dist/dynamic/components/Button';
import { Title } from '@patternfly/react-core/dist/dynamic/components/Title';
import { useState } from 'react';
import { address, leaveTo } from '../../address/address.ts';
import { path } from '../../api/admin-api.ts';
import type { Realm } from '../../api/representations.ts';
import { ConfirmButton, FormDialog, TextField } from '../../components/forms.tsx';
import { useRights } from '../../components/rights.tsx';
import { useChange } from '../../components/service-calls.tsx';
import { useApi } from '../../components/session.tsx';

/** Renames, disables, enables and deletes the realm. What cuts users off needs the name of the realm typed. */
export function RealmState({ realm: record, readOnly }: { realm: Realm; readOnly: boolean }) {
  const api = useApi();
  const { realm, enabled } = record;
  const [renaming, setRenaming] = useState(false);
  const switchTo = (next: boolean) => api.send('PUT', path`/${realm}`, { enabled: next });
  const enable = useChange({ done: `Realm ${realm} is enabled`, failed: 'The realm was not enabled' }, () =>
    switchTo(true),
  );
  const disable = useChange(
    { done: `Realm ${realm} is disabled`, failed: 'The realm was not disabled' },
    () => switchTo(false),
  );
  const { undo } = useRights(realm);
  const remove = useChange(
    { done: `Realm ${realm} was deleted`, failed: 'The realm was not deleted' },
    async () => {
      await api.send('DELETE', path`/${realm}`);
      leaveTo('/');
    },
  );
  // Without realm master nobody could administer the others.
  if (readOnly || realm === 'master') return null;
  return (
    <section className="further" aria-labelledby="realm-state">
      <Title headingLevel="h2" size="lg" id="realm-state">
        The realm as a whole
      </Title>
      <p>
        {enabled
          ? 'While a realm is disabled, its users cannot log in and clients get no tokens.'
          : 'The realm is disabled: its users cannot log in and clients get no tokens.'}
      </p>
      <div className="buttons">
        <Button variant="secondary" onClick={() => setRenaming(true)}>
          Rename realm
        </Button>
        {enabled ? (
          <ConfirmButton
            label="Disable realm"
            title={`Disable ${realm}?`}
            description="Users of the realm cannot log in, and applications get no tokens, until you enable it again."
            submit="Disable"
            typed={realm}
            change={disable}
          />
        ) : (
          <Button variant="secondary" isLoading={enable.running} onClick={() => void enable.run()}>
            Enable realm
          </Button>
        )}
        <ConfirmButton
          label="Delete realm"
          title={`Delete ${realm}?`}
          description={`This deletes the realm with all users, clients, groups, roles, keys and sessions. ${undo}`}
          submit="Delete"
          typed={realm}
          change={remove}
        />
      </div>
      {renaming ? <Rename realm={realm} onClose={() => setRenaming(false)} /> : null}
    </section>
  );
}

function Rename({ realm, onClose }: { realm: string; onClose: () => void }) {
  const api = useApi();
  const [name, setName] = useState(realm);
  const change = useChange(
    { done: `Realm ${realm} is now ${name}`, failed: 'The realm was not renamed' },
    async () => {
      await api.send('PUT', path`/${realm}`, { realm: name });
      leaveTo(address`/${name}/settings`);
    },
  );
  return (
    <FormDialog
      title={`Rename ${realm}`}
      description="The name is part of every URL of the realm and of the issuer in its tokens. Applications that use the old URLs stop working, and tokens with the old issuer are invalid."
      submit="Rename"
      danger
      disabled={name === '' || name === realm}
      change={change}
      onClose={onClose}
    >
      <TextField label="Name" required value={name} onChange={setName} error={change.faultOf('realm')} />
    </FormDialog>
  );
}
