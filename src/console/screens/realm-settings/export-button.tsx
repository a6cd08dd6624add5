import { Button } from '@patternfly/react-core/dist/dynamic/components/Button';
import { Checkbox } from '@patternfly/react-core/dist/dynamic/components/Checkbox';
import { useState } from 'react';
import { path } from '../../api/admin-api.ts';
import { FormDialog } from '../../components/forms.tsx';
import { useChange } from '../../components/service-calls.tsx';
import { useApi } from '../../components/session.tsx';

/** Downloads the realm as a file, without users and secrets. */
export function ExportButton({ realm }: { realm: string }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button variant="secondary" onClick={() => setOpen(true)}>
        Export
      </Button>
      {open ? <Export realm={realm} onClose={() => setOpen(false)} /> : null}
    </>
  );
}

function Export({ realm, onClose }: { realm: string; onClose: () => void }) {
  const api = useApi();
  const [exportClients, setClients] = useState(true);
  const [exportGroupsAndRoles, setGroups] = useState(true);
  const change = useChange(
    { done: `Realm ${realm} was exported`, failed: 'The realm was not exported' },
    async () => {
      const exported = await api.ask<unknown>(path`/${realm}/partial-export`, undefined, {
        exportClients,
        exportGroupsAndRoles,
      });
      download(`realm-${realm}.json`, `${JSON.stringify(exported, null, 2)}\n`);
    },
  );
  return (
    <FormDialog
      title={`Export ${realm}`}
      description="The file has the settings, client scopes and keys of the realm. Secrets are masked, and users are left out: a backup has them (idkit backup)."
      submit="Download"
      change={change}
      onClose={onClose}
    >
      <Checkbox
        id="export-clients"
        label="Clients"
        isChecked={exportClients}
        onChange={(_event, checked) => setClients(checked)}
      />
      <Checkbox
        id="export-groups"
        label="Groups and roles"
        isChecked={exportGroupsAndRoles}
        onChange={(_event, checked) => setGroups(checked)}
      />
    </FormDialog>
  );
}

function download(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
