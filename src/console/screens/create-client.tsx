import { FormGroup } from '@patternfly/react-core/dist/dynamic/components/Form';
import { Radio } from '@patternfly/react-core/dist/dynamic/components/Radio';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { path } from '../api/admin-api.ts';
import { FormDialog, TextField } from '../components/forms.tsx';
import { useChange } from '../components/service-calls.tsx';
import { useApi } from '../components/session.tsx';

/** The two kinds of client that the console creates. */
type Kind = 'interactive' | 'machine';

/** The settings of each kind. Every public client requires PKCE. */
const PRESETS = {
  interactive: {
    publicClient: true,
    standardFlowEnabled: true,
    serviceAccountsEnabled: false,
    directAccessGrantsEnabled: false,
    attributes: { 'pkce.code.challenge.method': 'S256', 'post.logout.redirect.uris': '+' },
    webOrigins: ['+'],
  },
  machine: {
    publicClient: false,
    standardFlowEnabled: false,
    serviceAccountsEnabled: true,
    directAccessGrantsEnabled: false,
    attributes: {},
    webOrigins: [],
  },
} as const;

/** A dialog that asks for a few settings of a new client and chooses safe defaults for all others. */
export function CreateClient(props: { realm: string; onClose: () => void }) {
  const api = useApi();
  const [, navigate] = useLocation();
  const [kind, setKind] = useState<Kind>('interactive');
  const [clientId, setClientId] = useState('');
  const [redirectUri, setRedirectUri] = useState('');
  const change = useChange(
    { done: `Client ${clientId} was created`, failed: 'The client was not created' },
    async () => {
      const id = await api.send('POST', path`/${props.realm}/clients`, {
        clientId,
        enabled: true,
        protocol: 'openid-connect',
        redirectUris: kind === 'interactive' ? [redirectUri] : [],
        ...PRESETS[kind],
      });
      if (id !== undefined) navigate(`/${encodeURIComponent(props.realm)}/clients/${encodeURIComponent(id)}`);
    },
  );
  return (
    <FormDialog
      title="Create client"
      submit="Create"
      disabled={clientId === '' || (kind === 'interactive' && redirectUri === '')}
      change={change}
      onClose={props.onClose}
    >
      <FormGroup role="radiogroup" isStack label="Kind" fieldId="kind">
        <Radio
          id="kind-interactive"
          name="kind"
          label="Interactive application"
          description="People log in with a browser: single-page, mobile and desktop applications. It uses the authorization code flow with PKCE and has no secret."
          isChecked={kind === 'interactive'}
          onChange={() => setKind('interactive')}
        />
        <Radio
          id="kind-machine"
          name="kind"
          label="Machine to machine"
          description="A service calls APIs on its own behalf, with a secret and a service account. No user logs in."
          isChecked={kind === 'machine'}
          onChange={() => setKind('machine')}
        />
      </FormGroup>
      <TextField label="Client id" required value={clientId} onChange={setClientId} />
      {kind === 'interactive' ? (
        <TextField
          label="Redirect URI"
          type="url"
          required
          value={redirectUri}
          onChange={setRedirectUri}
          help="The exact URL to which the browser returns after the login, such as https://app.example.org/"
        />
      ) : null}
    </FormDialog>
  );
}
