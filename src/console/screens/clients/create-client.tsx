import { FormGroup } from '@patternfly/react-core/dist/dynamic/components/Form';
import { Radio } from '@patternfly/react-core/dist/dynamic/components/Radio';
import { useState } from 'react';
import { address, leaveTo } from '../../address/address.ts';
import { path } from '../../api/admin-api.ts';
import { filledLines, LinesField } from '../../components/choices.tsx';
import { errorAt } from '../../components/field-errors.ts';
import { FormDialog, TextField } from '../../components/forms.tsx';
import { useChange } from '../../components/service-calls.tsx';
import { useApi } from '../../components/session.tsx';
import { KINDS, type Kind, PRESETS } from './kinds.ts';

/** A dialog that asks for a few settings of a new client and chooses safe defaults for all others. */
export function CreateClient(props: { realm: string; onClose: () => void }) {
  const api = useApi();
  const [kind, setKind] = useState<Kind>('web');
  const [clientId, setClientId] = useState('');
  const [name, setName] = useState('');
  const [redirectUris, setRedirectUris] = useState<readonly string[]>([]);
  const signsIn = kind !== 'service';
  const change = useChange(
    { done: `Client ${clientId} was created`, failed: 'The client was not created' },
    async () => {
      const id = await api.send('POST', path`/${props.realm}/clients`, {
        clientId,
        name,
        enabled: true,
        protocol: 'openid-connect',
        ...(signsIn ? { redirectUris: filledLines(redirectUris) } : {}),
        ...PRESETS[kind],
      });
      if (id !== undefined) leaveTo(address`/${props.realm}/clients/${id}`);
    },
  );
  return (
    <FormDialog
      title="Create client"
      submit="Create"
      disabled={clientId === '' || (signsIn && filledLines(redirectUris).length === 0)}
      change={change}
      onClose={props.onClose}
    >
      <FormGroup role="radiogroup" isStack label="Kind" fieldId="kind">
        {(Object.keys(KINDS) as Kind[]).map((one) => (
          <Radio
            key={one}
            id={`kind-${one}`}
            name="kind"
            label={KINDS[one].title}
            description={KINDS[one].help}
            isChecked={kind === one}
            onChange={() => setKind(one)}
          />
        ))}
      </FormGroup>
      <TextField
        label="Client id"
        required
        value={clientId}
        onChange={setClientId}
        error={errorAt(change, 'clientId')}
        help="The application sends it, so it is best short and without spaces"
      />
      <TextField
        label="Name"
        value={name}
        onChange={setName}
        help="People see it when they sign in and in their account"
      />
      {signsIn ? (
        <LinesField
          label="Redirect URIs, one per line"
          value={redirectUris}
          onChange={setRedirectUris}
          error={errorAt(change, 'redirectUris')}
          help="The exact addresses to which the browser returns after the sign-in, such as https://app.example.org/callback"
        />
      ) : null}
    </FormDialog>
  );
}
