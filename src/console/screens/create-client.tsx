import { FormGroup } from '@patternfly/react-core/dist/dynamic/components/Form';
import { Radio } from '@patternfly/react-core/dist/dynamic/components/Radio';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { path } from '../api/admin-api.ts';
import { useAct } from '../components/act.tsx';
import { FormDialog, TextField } from '../components/dialog.tsx';
import { useApi } from '../components/session.tsx';

/** The specification's two kinds of client ("Client (configuration)"). */
type Kind = 'interactive' | 'machine';

/** What each kind is made with; PKCE is asked of every public client that is made here. */
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

/** Few questions, safe answers to all others. */
export function CreateClient(props: { realm: string; onClose: () => void }) {
  const api = useApi();
  const [, goTo] = useLocation();
  const [kind, setKind] = useState<Kind>('interactive');
  const [clientId, setClientId] = useState('');
  const [redirectUri, setRedirectUri] = useState('');
  const act = useAct(
    { done: `Client ${clientId} is there`, failed: 'The client was not created' },
    async () => {
      const id = await api.send('POST', path`/${props.realm}/clients`, {
        clientId,
        enabled: true,
        protocol: 'openid-connect',
        redirectUris: kind === 'interactive' ? [redirectUri] : [],
        ...PRESETS[kind],
      });
      if (id !== undefined) goTo(`/${encodeURIComponent(props.realm)}/clients/${encodeURIComponent(id)}`);
    },
  );
  return (
    <FormDialog
      title="Create client"
      submit="Create"
      disabled={clientId === '' || (kind === 'interactive' && redirectUri === '')}
      act={act}
      onClose={props.onClose}
    >
      <FormGroup role="radiogroup" isStack label="Kind" fieldId="kind">
        <Radio
          id="kind-interactive"
          name="kind"
          label="Interactive application"
          description="People log in with a browser: single-page, mobile and desktop applications. No secret; authorization code with PKCE."
          isChecked={kind === 'interactive'}
          onChange={() => setKind('interactive')}
        />
        <Radio
          id="kind-machine"
          name="kind"
          label="Machine to machine"
          description="A service calls APIs in its own name, with a secret and a service account. Nobody logs in."
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
          help="The exact address that the browser comes back to after the login, such as https://app.example.org/"
        />
      ) : null}
    </FormDialog>
  );
}
