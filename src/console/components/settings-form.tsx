import { FormGroup, FormSection } from '@patternfly/react-core/dist/dynamic/components/Form';
import { FormSelect, FormSelectOption } from '@patternfly/react-core/dist/dynamic/components/FormSelect';
import { Switch } from '@patternfly/react-core/dist/dynamic/components/Switch';
import { TextArea } from '@patternfly/react-core/dist/dynamic/components/TextArea';
import { TextInput } from '@patternfly/react-core/dist/dynamic/components/TextInput';
import { type ReactNode, useId, useState } from 'react';
import { DurationField, formatDuration } from './duration-field.tsx';
import { FieldHelp, SaveForm, TextField } from './forms.tsx';
import { useChange } from './service-calls.tsx';
import { withoutSent } from './without-sent.ts';

/** A field of a form for settings. Its path is that of a value in the representation, such as `attributes.x`. */
export interface SettingsField {
  path: string;
  label: string;
  kind: 'text' | 'lines' | 'switch' | 'number' | 'duration' | 'choice';
  help?: string;
  /** The values of a choice, with their labels. */
  choices?: readonly (readonly [value: string, label: string])[];
  /** What 0 means, for a duration. Without it, 0 is entered as a number. */
  zero?: string;
  /** The largest duration in seconds. */
  most?: number;
  /** Whether the record has the duration as a text, as in an attribute. Default: false. */
  asText?: boolean;
  /** Whether the field matters, given the other values. Default: it does. */
  applies?: (read: (path: string) => unknown) => boolean;
}

/** A group of fields under one heading. */
export interface SettingsSection {
  title?: string;
  fields: readonly SettingsField[];
}

type Values = Readonly<Record<string, unknown>>;

/**
 * A form for some fields of a record. It sends only what the user changed, so that two administrators can change
 * different settings at the same time.
 *
 * @param props `record` is the saved representation; `save` receives its changed fields; `children` are further fields,
 *   which read and change values by their paths
 */
export function SettingsForm(props: {
  record: object;
  sections: readonly SettingsSection[];
  notice: { done: string; failed: string };
  save: (changed: Values) => Promise<unknown>;
  readOnly?: boolean;
  children?: (values: {
    read: (path: string) => unknown;
    write: (path: string, value: unknown) => void;
  }) => ReactNode;
}) {
  const [changed, setChanged] = useState<Values>({});
  const saved = (path: string): unknown => readPath(props.record, path);
  const read = (path: string): unknown => (path in changed ? changed[path] : saved(path));
  const write = (path: string, value: unknown): void => {
    const { [path]: _before, ...rest } = changed;
    setChanged(isSame(value, saved(path)) ? rest : { ...rest, [path]: value });
  };
  const change = useChange(props.notice, async () => {
    await props.save(mergePaths(props.record, changed));
    setChanged((now) => withoutSent(now, changed));
  });
  return (
    <SaveForm
      change={change}
      dirty={Object.keys(changed).length > 0}
      disabled={
        props.readOnly === true ||
        Object.values(changed).some(Number.isNaN) ||
        props.sections.some(({ fields }) =>
          fields.some((field) => faultOfDuration(field, changed[field.path]) !== undefined),
        )
      }
      onRevert={() => setChanged({})}
    >
      {props.sections.map((section, place) => {
        const fields = section.fields
          .filter(({ applies }) => applies === undefined || applies(read))
          .map((field) => (
            <Field
              key={field.path}
              field={field}
              value={read(field.path)}
              onChange={(value) => write(field.path, value)}
              error={change.faultOf(field.path.split('.').at(-1)!)}
            />
          ));
        return section.title === undefined ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: the sections of a form do not change
          <div key={place} className="fields">
            {fields}
          </div>
        ) : (
          <FormSection key={section.title} title={section.title} titleElement="h2">
            {fields}
          </FormSection>
        );
      })}
      {props.children?.({ read, write })}
    </SaveForm>
  );
}

function Field(props: {
  field: SettingsField;
  value: unknown;
  onChange: (value: unknown) => void;
  error: string | undefined;
}) {
  const { field, value, onChange, error } = props;
  const { label, help } = field;
  const id = useId();
  const described = help === undefined && error === undefined ? {} : { 'aria-describedby': `${id}-help` };
  const helped = help === undefined ? {} : { help };
  if (field.kind === 'text')
    return (
      <TextField label={label} value={String(value ?? '')} onChange={onChange} error={error} {...helped} />
    );
  if (field.kind === 'duration')
    return (
      <DurationField
        label={label}
        seconds={Number(value ?? 0)}
        onChange={(seconds) =>
          onChange(field.asText === true && !Number.isNaN(seconds) ? String(seconds) : seconds)
        }
        zero={field.zero}
        help={help}
        error={error ?? faultOfDuration(field, value)}
      />
    );
  if (field.kind === 'switch')
    return (
      <FormGroup fieldId={id}>
        <Switch
          id={id}
          label={label}
          isChecked={value === true}
          onChange={(_event, checked) => onChange(checked)}
          {...described}
        />
        <FieldHelp id={`${id}-help`} help={help} error={error} />
      </FormGroup>
    );
  return (
    <FormGroup label={label} fieldId={id}>
      {field.kind === 'choice' ? (
        <FormSelect
          id={id}
          value={String(value ?? '')}
          onChange={(_event, chosen) => onChange(typeof value === 'number' ? Number(chosen) : chosen)}
          validated={error === undefined ? 'default' : 'error'}
          {...described}
        >
          {withUnknown(field.choices ?? [], value).map(([one, text]) => (
            <FormSelectOption key={one} value={one} label={text} />
          ))}
        </FormSelect>
      ) : field.kind === 'lines' ? (
        <TextArea
          id={id}
          value={Array.isArray(value) ? value.join('\n') : ''}
          onChange={(_event, text) => onChange(text.split('\n'))}
          resizeOrientation="vertical"
          {...described}
        />
      ) : (
        <TextInput
          id={id}
          type="number"
          min={0}
          className="short"
          value={Number.isNaN(value) ? '' : String(value ?? '')}
          onChange={(_event, text) => onChange(text === '' ? Number.NaN : Number(text))}
          validated={error === undefined && !Number.isNaN(value) ? 'default' : 'error'}
          {...described}
        />
      )}
      <FieldHelp id={`${id}-help`} help={help} error={error} />
    </FormGroup>
  );
}

/** Returns what is wrong with a duration that is above the limit of its field. */
function faultOfDuration({ most }: SettingsField, value: unknown): string | undefined {
  if (most === undefined || !(Number(value ?? 0) > most)) return undefined;
  return `At most ${formatDuration(most)}`;
}

/** Adds the current value to the choices, if the console does not know it. */
function withUnknown(
  choices: readonly (readonly [string, string])[],
  value: unknown,
): readonly (readonly [string, string])[] {
  const text = String(value ?? '');
  return choices.some(([one]) => one === text)
    ? choices
    : [[text, text === '' ? 'Not set' : text], ...choices];
}

function readPath(record: object, path: string): unknown {
  const [first = '', ...rest] = path.split('.');
  const value = (record as Values)[first];
  if (rest.length === 0) return value;
  return typeof value === 'object' && value !== null ? (value as Values)[rest.join('.')] : undefined;
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one ?? '') === JSON.stringify(other ?? '');
}

/** Returns the changed fields of a representation. A field of an object is sent with the rest of its object. */
function mergePaths(record: object, changed: Values): Values {
  const merged: Record<string, unknown> = {};
  for (const [path, value] of Object.entries(changed)) {
    const [first = '', ...rest] = path.split('.');
    if (rest.length === 0) merged[first] = value;
    else
      merged[first] = {
        ...((merged[first] ?? (record as Values)[first]) as object),
        [rest.join('.')]: value,
      };
  }
  return merged;
}
