import { Alert } from '@patternfly/react-core/dist/dynamic/components/Alert';
import { FormGroup } from '@patternfly/react-core/dist/dynamic/components/Form';
import { FormSelect, FormSelectOption } from '@patternfly/react-core/dist/dynamic/components/FormSelect';
import { useQuery } from '@tanstack/react-query';
import { useId, useMemo, useState } from 'react';
import { useLocation } from 'wouter';
import { address } from '../../address/address.ts';
import { type AdminApi, path } from '../../api/admin-api.ts';
import { FormDialog, TextField } from '../../components/forms.tsx';
import { useRealms } from '../../components/realms.ts';
import { Loaded, useChange } from '../../components/service-calls.tsx';
import { useApi } from '../../components/session.tsx';
import { useTypingPause } from '../../components/typing-pause.ts';
import { PartialOutcome, type PartialPreview, type RealmPreview, WholeOutcome } from './import-preview.tsx';
import { copyRealm, withoutMasks } from './realm-copy.ts';

type Json = Readonly<Record<string, unknown>>;
/** What to do with a record of the file if its name exists already. */
type IfExists = 'FAIL' | 'SKIP' | 'OVERWRITE';

/** The parts of a realm file that can be added to an existing realm. */
const ADDABLE = ['users', 'clients', 'groups', 'roles'];

/** Imports a realm file: as a new realm, or its records into an existing one. Shows what happens before it happens. */
export function ImportRealm({ onClose }: { onClose: () => void }) {
  const api = useApi();
  const [, navigate] = useLocation();
  const realms = useRealms();
  const field = useId();
  const [file, setFile] = useState<{ name: string; content?: Json; fault?: string }>();
  const [target, setTarget] = useState('');
  const [ifExists, setIfExists] = useState<IfExists>('FAIL');
  const [newName, setNewName] = useState<string>();
  const written = String(file?.content?.['realm'] ?? '');
  const typed = newName ?? written;
  const settled = useTypingPause(typed);
  const name = target === '' ? settled : target;
  const { content, masks } = useMemo(
    () => prepareContent(file?.content, target === '' ? name : undefined),
    [file, target, name],
  );
  const preview = useQuery({
    queryKey: ['import-preview', file?.name, target, name, ifExists],
    queryFn: () => readPreview(api, content ?? {}, target, ifExists),
    enabled: content !== undefined && typed === settled,
    staleTime: 0,
    gcTime: 0,
    retry: false,
  });
  const isRefused =
    typed !== settled ||
    preview.data === undefined ||
    preview.isFetching ||
    preview.data.outcome.refused.length > 0;
  const change = useChange(
    { done: `The file was imported into realm ${name}`, failed: 'Nothing was imported' },
    async () => {
      if (target === '') await api.send('POST', '', content);
      else await api.ask(path`/${target}/partialImport`, addable(content ?? {}, ifExists));
      navigate(address`/${name}/users`);
    },
  );
  return (
    <FormDialog
      title="Import a realm file"
      description="A file of kc.sh export, of idkit backup or of Export. Nothing is written before you choose Import."
      submit="Import"
      size="medium"
      disabled={isRefused}
      change={change}
      onClose={onClose}
    >
      <FormGroup label="File" fieldId={field} isRequired>
        <input
          id={field}
          type="file"
          accept=".json,application/json"
          className="file"
          onChange={(event) => {
            const chosen = event.target.files?.[0];
            setNewName(undefined);
            if (chosen !== undefined) void readFile(chosen).then(setFile);
          }}
        />
      </FormGroup>
      <FormGroup label="Import into" fieldId={`${field}-target`}>
        <FormSelect id={`${field}-target`} value={target} onChange={(_event, value) => setTarget(value)}>
          <FormSelectOption value="" label="A new realm" />
          {(realms.data ?? []).map(({ realm }) => (
            <FormSelectOption key={realm} value={realm} label={`Existing realm ${realm}`} />
          ))}
        </FormSelect>
      </FormGroup>
      {target === '' && content !== undefined ? (
        <TextField
          label="Name of the new realm"
          value={typed}
          onChange={setNewName}
          help="Under another name than in the file, its records get new ids"
        />
      ) : null}
      {target === '' ? null : (
        <FormGroup label="If a record exists already" fieldId={`${field}-exists`}>
          <FormSelect
            id={`${field}-exists`}
            value={ifExists}
            onChange={(_event, value) => setIfExists(value as IfExists)}
          >
            <FormSelectOption value="FAIL" label="Import nothing" />
            <FormSelectOption value="SKIP" label="Keep the existing record" />
            <FormSelectOption value="OVERWRITE" label="Replace the existing record" />
          </FormSelect>
        </FormGroup>
      )}
      {file?.fault === undefined ? null : (
        <Alert isInline variant="danger" component="p" title={file.fault} />
      )}
      {masks === 0 ? null : (
        <Alert
          isInline
          variant="info"
          component="p"
          title={`${masks.toLocaleString()} secrets of the file are masked. The service generates secrets of clients and keys. Set passwords of other servers again.`}
        />
      )}
      {content === undefined ? null : (
        <Loaded of={preview}>
          {(found) =>
            found.into === 'new' ? <WholeOutcome of={found.outcome} /> : <PartialOutcome of={found.outcome} />
          }
        </Loaded>
      )}
    </FormDialog>
  );
}

/** Returns what is sent. @param name the name of the new realm, or undefined for an existing realm */
function prepareContent(
  content: Json | undefined,
  name: string | undefined,
): { content: Json | undefined; masks: number } {
  if (content === undefined || name === undefined) return { content, masks: 0 };
  const { record, masks } = withoutMasks(content);
  const written = String(record['realm'] ?? '');
  return { content: written === name ? record : copyRealm(record, written, name), masks };
}

async function readFile(file: File): Promise<{ name: string; content?: Json; fault?: string }> {
  // The time distinguishes a corrected file from the earlier one with the same name.
  const name = `${file.name} ${file.size} ${file.lastModified}`;
  try {
    const content: unknown = JSON.parse(await file.text());
    if (typeof content === 'object' && content !== null && !Array.isArray(content))
      return { name, content: content as Json };
    return { name, fault: `${file.name} does not contain a realm: it is not a JSON object` };
  } catch (error) {
    return {
      name,
      fault: `${file.name} is not a JSON file: ${error instanceof Error ? error.message : error}`,
    };
  }
}

type Previewed = { into: 'new'; outcome: RealmPreview } | { into: 'existing'; outcome: PartialPreview };

async function readPreview(
  api: AdminApi,
  content: Json,
  target: string,
  ifExists: IfExists,
): Promise<Previewed> {
  if (target === '')
    return { into: 'new', outcome: await api.askOutside<RealmPreview>('/import-preview', content) };
  const body = addable(content, ifExists);
  return {
    into: 'existing',
    outcome: await api.ask<PartialPreview>(path`/${target}/partialImport/preview`, body),
  };
}

function addable(content: Json, ifResourceExists: IfExists): Json {
  return {
    ifResourceExists,
    ...Object.fromEntries(Object.entries(content).filter(([name]) => ADDABLE.includes(name))),
  };
}
