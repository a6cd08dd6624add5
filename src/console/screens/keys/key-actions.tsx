import { Button } from '@patternfly/react-core/dist/dynamic/components/Button';
import { Checkbox } from '@patternfly/react-core/dist/dynamic/components/Checkbox';
import { useState } from 'react';
import { type AdminApi, path } from '../../api/admin-api.ts';
import type { Component } from '../../api/representations.ts';
import { ConfirmButton, FormDialog } from '../../components/forms.tsx';
import { useChange } from '../../components/service-calls.tsx';
import { useApi } from '../../components/session.tsx';
import type { RealmKey } from './keys.tsx';

/** Rotates a key, and changes its state. */
export function KeyActions(props: { realm: string; row: RealmKey; component: Component }) {
  const { realm, row, component } = props;
  const [rotating, setRotating] = useState(false);
  const { status } = row.key;
  return (
    <div className="row-actions">
      {row.isUsed ? (
        <Button
          variant="link"
          isInline
          aria-label={`Rotate ${row.key.algorithm ?? ''} key`}
          onClick={() => setRotating(true)}
        >
          Rotate
        </Button>
      ) : null}
      {status === 'ACTIVE' ? (
        <Switch realm={realm} component={component} label="Make passive" config={{ active: ['false'] }} />
      ) : (
        <Switch
          realm={realm}
          component={component}
          label="Make active"
          config={{ active: ['true'], enabled: ['true'] }}
        />
      )}
      {status === 'PASSIVE' ? (
        <Switch realm={realm} component={component} label="Disable" config={{ enabled: ['false'] }} />
      ) : null}
      {status === 'DISABLED' ? <Remove realm={realm} component={component} /> : null}
      {rotating ? (
        <Rotate realm={realm} row={row} component={component} onClose={() => setRotating(false)} />
      ) : null}
    </div>
  );
}

/** A button that changes some values of the key's component, after a confirmation if a key stops to be used. */
function Switch(props: {
  realm: string;
  component: Component;
  label: 'Make passive' | 'Make active' | 'Disable';
  config: Component['config'];
}) {
  const api = useApi();
  const { realm, component, label, config } = props;
  const name = component.name ?? component.providerId;
  const change = useChange({ done: `The key ${name} was changed`, failed: 'The key was not changed' }, () =>
    changeComponent(api, realm, component, config),
  );
  if (label === 'Make active')
    return (
      <Button
        variant="link"
        isInline
        isLoading={change.running}
        aria-label={`${label}: ${name}`}
        onClick={() => void change.run()}
      >
        {label}
      </Button>
    );
  return (
    <ConfirmButton
      inline
      label={label}
      name={`${label}: ${name}`}
      title={`${label}: ${name}?`}
      description={
        label === 'Disable'
          ? 'Tokens, sessions and cookies that this key signed become invalid now. Wait until those with the longest lifetime have expired.'
          : 'The key signs nothing more, but still verifies what it signed before. If no other key of its algorithm is active, logins that need the algorithm fail.'
      }
      submit={label}
      change={change}
    />
  );
}

/** Sends the whole component, because a PUT replaces it. Its secrets are masked, which leaves them unchanged. */
function changeComponent(
  api: AdminApi,
  realm: string,
  component: Component,
  config: Component['config'],
): Promise<unknown> {
  return api.send('PUT', path`/${realm}/components/${component.id}`, {
    ...component,
    config: { ...component.config, ...config },
  });
}

/** The values of a component that a new key of the same kind needs. All others belong to the key itself. */
const OF_KIND = [
  'algorithm',
  'keySize',
  'secretSize',
  'ecdsaEllipticCurveKey',
  'eddsaEllipticCurveKey',
  'ecdhEllipticCurveKey',
  'ecdhAlgorithm',
];

/** A key that was given is replaced by a generated one. */
const GENERATED: Readonly<Record<string, string>> = { rsa: 'rsa-generated', 'rsa-enc': 'rsa-enc-generated' };

function Rotate(props: { realm: string; row: RealmKey; component: Component; onClose: () => void }) {
  const api = useApi();
  const { realm, row, component } = props;
  const [passive, setPassive] = useState(true);
  const { algorithm = '' } = row.key;
  const priority = row.key.providerPriority + 1;
  const change = useChange(
    { done: `A new ${algorithm} key is in use`, failed: 'The key was not rotated' },
    async () => {
      const config = Object.fromEntries(
        Object.entries(component.config).filter(([name]) => OF_KIND.includes(name)),
      );
      const providerId = GENERATED[component.providerId] ?? component.providerId;
      await api.send('POST', path`/${realm}/components`, {
        name: `${providerId}-${new Date().toISOString().slice(0, 10)}`,
        providerId,
        providerType: component.providerType,
        parentId: component.parentId,
        config: { ...config, priority: [String(priority)], enabled: ['true'], active: ['true'] },
      });
      if (passive) await changeComponent(api, realm, component, { active: ['false'] });
    },
  );
  return (
    <FormDialog
      title={`Rotate the ${algorithm} key`}
      description={`A new key with priority ${priority} is generated and used from now on. The current key still verifies what it signed, so no user is signed out. Disable and delete it later, when everything that it signed has expired.`}
      submit="Rotate"
      change={change}
      onClose={props.onClose}
    >
      <Checkbox
        id="make-passive"
        label="Make the current key passive"
        description="Otherwise it takes over again if the new key is disabled"
        isChecked={passive}
        onChange={(_event, checked) => setPassive(checked)}
      />
    </FormDialog>
  );
}

function Remove({ realm, component }: { realm: string; component: Component }) {
  const api = useApi();
  const name = component.name ?? component.providerId;
  const change = useChange({ done: `The key ${name} was deleted`, failed: 'The key was not deleted' }, () =>
    api.send('DELETE', path`/${realm}/components/${component.id}`),
  );
  return (
    <ConfirmButton
      inline
      label="Delete"
      name={`Delete ${name}`}
      title={`Delete the key ${name}?`}
      description="It cannot be undone here. What the key signed or encrypted can never be read again."
      submit="Delete"
      change={change}
    />
  );
}
