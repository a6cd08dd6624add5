import { FormGroup } from '@patternfly/react-core/dist/dynamic/components/Form';
import { useState } from 'react';
import { path } from '../../api/admin-api.ts';
import type { ProtocolMapper } from '../../api/representations.ts';
import { AttributeFields, attributeLines, readAttributes } from '../../components/attribute-fields.tsx';
import { CheckField, SelectField } from '../../components/choices.tsx';
import { errorAt } from '../../components/field-errors.ts';
import { FormDialog, TextField } from '../../components/forms.tsx';
import { useChange } from '../../components/service-calls.tsx';
import { useApi } from '../../components/session.tsx';
import { JSON_TYPES, MAPPER_TYPES, type MapperField, NEW_CONFIG, TOKENS, typeTitle } from './mapper-types.ts';

/** A dialog for a new mapper, or for an existing one, whose type stays. */
export function MapperDialog(props: { models: string; mapper?: ProtocolMapper; onClose: () => void }) {
  const { models, mapper } = props;
  const api = useApi();
  const [name, setName] = useState(mapper?.name ?? '');
  const [type, setType] = useState(mapper?.protocolMapper ?? 'oidc-usermodel-attribute-mapper');
  const [config, setConfig] = useState(mapper?.config ?? NEW_CONFIG);
  const known = MAPPER_TYPES[type];
  // A type that the console does not know has no fields, so its configuration is edited as it is stored.
  const [lines, setLines] = useState(() =>
    attributeLines(Object.fromEntries(Object.entries(config).map(([key, value]) => [key, [value]]))),
  );
  const change = useChange({ done: `Mapper ${name} was saved`, failed: 'The mapper was not saved' }, () => {
    const own =
      known === undefined
        ? Object.fromEntries(
            Object.entries(readAttributes(lines)).map(([key, values]) => [key, values[0] ?? '']),
          )
        : config;
    const body = { ...mapper, name, protocol: 'openid-connect', protocolMapper: type, config: own };
    return mapper === undefined
      ? api.send('POST', models, body)
      : api.send('PUT', models + path`/${mapper.id}`, body);
  });
  const fields = known?.fields ?? [];
  const missing = fields.some(({ key, required }) => required === true && (config[key] ?? '') === '');
  const set = (key: string) => (value: string) => setConfig({ ...config, [key]: value });
  return (
    <FormDialog
      title={mapper === undefined ? 'Add mapper' : `Mapper ${mapper.name}`}
      description={known?.help}
      submit={mapper === undefined ? 'Add' : 'Save'}
      disabled={name === '' || missing}
      change={change}
      onClose={props.onClose}
    >
      {mapper === undefined ? (
        <SelectField
          label="Type"
          value={type}
          onChange={setType}
          options={Object.entries(MAPPER_TYPES).map(([id, { title }]) => [id, title] as const)}
        />
      ) : (
        <TextField label="Type" value={typeTitle(type)} onChange={() => undefined} readOnly />
      )}
      <TextField label="Name" required value={name} onChange={setName} error={errorAt(change, 'name')} />
      {fields.map((field) => (
        <ConfigField
          key={field.key}
          field={field}
          value={config[field.key] ?? ''}
          onChange={set(field.key)}
        />
      ))}
      {known?.tokens === true ? (
        <FormGroup role="group" isStack label="Write to" fieldId="write-to">
          {TOKENS.map(([key, title]) => (
            <CheckField
              key={key}
              label={title}
              checked={config[key] === 'true'}
              onChange={(checked) => set(key)(String(checked))}
            />
          ))}
        </FormGroup>
      ) : null}
      {known === undefined ? (
        <AttributeFields label="Configuration" lines={lines} onChange={setLines} />
      ) : null}
    </FormDialog>
  );
}

function ConfigField(props: { field: MapperField; value: string; onChange: (value: string) => void }) {
  const { field, value, onChange } = props;
  const help = field.help === undefined ? {} : { help: field.help };
  switch (field.kind) {
    case 'check':
      return (
        <CheckField
          label={field.label}
          {...help}
          checked={value === 'true'}
          onChange={(checked) => onChange(String(checked))}
        />
      );
    case 'type':
      return (
        <SelectField label={field.label} value={value} onChange={onChange} options={JSON_TYPES} {...help} />
      );
    case 'text':
      return (
        <TextField
          label={field.label}
          required={field.required === true}
          value={value}
          onChange={onChange}
          {...help}
        />
      );
  }
}
