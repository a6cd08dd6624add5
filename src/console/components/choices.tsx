import { Checkbox } from '@patternfly/react-core/dist/dynamic/components/Checkbox';
import { FormGroup } from '@patternfly/react-core/dist/dynamic/components/Form';
import { FormSelect, FormSelectOption } from '@patternfly/react-core/dist/dynamic/components/FormSelect';
import { TextArea } from '@patternfly/react-core/dist/dynamic/components/TextArea';
import { useId } from 'react';
import { FieldHelp } from './forms.tsx';

/** A labelled choice of one value. */
export function SelectField(props: {
  label: string;
  value: string;
  onChange: (value: string) => void;
  /** Each value with its title. */
  options: readonly (readonly [value: string, title: string])[];
  help?: string;
}) {
  const id = useId();
  return (
    <FormGroup label={props.label} fieldId={id}>
      <FormSelect
        id={id}
        value={props.value}
        onChange={(_event, value) => props.onChange(value)}
        aria-describedby={props.help === undefined ? undefined : `${id}-help`}
      >
        {props.options.map(([value, title]) => (
          <FormSelectOption key={value} value={value} label={title} />
        ))}
      </FormSelect>
      <FieldHelp id={`${id}-help`} help={props.help} />
    </FormGroup>
  );
}

/** A check box with its explanation. */
export function CheckField(props: {
  label: string;
  checked: boolean;
  onChange: (checked: boolean) => void;
  help?: string;
  disabled?: boolean;
}) {
  const id = useId();
  return (
    <Checkbox
      id={id}
      label={props.label}
      description={props.help}
      isChecked={props.checked}
      isDisabled={props.disabled === true}
      onChange={(_event, checked) => props.onChange(checked)}
    />
  );
}

/** A list of texts, one per line. */
export function LinesField(props: {
  label: string;
  value: readonly string[];
  onChange: (value: readonly string[]) => void;
  help?: string;
  error?: string | undefined;
}) {
  const id = useId();
  return (
    <FormGroup label={props.label} fieldId={id}>
      <TextArea
        id={id}
        value={props.value.join('\n')}
        onChange={(_event, value) => props.onChange(value === '' ? [] : value.split('\n'))}
        resizeOrientation="vertical"
        autoResize
        validated={props.error === undefined ? 'default' : 'error'}
        aria-describedby={`${id}-help`}
      />
      <FieldHelp id={`${id}-help`} help={props.help} error={props.error} />
    </FormGroup>
  );
}

/** Returns the lines of a `LinesField` without blank ones. */
export const filledLines = (lines: readonly string[]): readonly string[] =>
  lines.map((line) => line.trim()).filter((line) => line !== '');
