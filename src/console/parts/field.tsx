import { FormGroup, FormHelperText } from '@patternfly/react-core/dist/dynamic/components/Form';
import { HelperText, HelperTextItem } from '@patternfly/react-core/dist/dynamic/components/HelperText';
import { TextInput } from '@patternfly/react-core/dist/dynamic/components/TextInput';
import { type HTMLInputTypeAttribute, useId } from 'react';

type TextType = Extract<HTMLInputTypeAttribute, 'text' | 'email' | 'password' | 'url'>;

/** One labelled text of a form. */
export function TextField(props: {
  label: string;
  value: string;
  onChange: (value: string) => void;
  type?: TextType;
  required?: boolean;
  readOnly?: boolean;
  help?: string;
  autoComplete?: string;
}) {
  const id = useId();
  return (
    <FormGroup label={props.label} fieldId={id} isRequired={props.required === true}>
      <TextInput
        id={id}
        type={props.type ?? 'text'}
        value={props.value}
        isRequired={props.required === true}
        autoComplete={props.autoComplete ?? 'off'}
        onChange={(_event, value) => props.onChange(value)}
        {...(props.readOnly === true ? { readOnlyVariant: 'default' } : {})}
        {...(props.help === undefined ? {} : { 'aria-describedby': `${id}-help` })}
      />
      {props.help === undefined ? null : (
        <FormHelperText>
          <HelperText>
            <HelperTextItem id={`${id}-help`}>{props.help}</HelperTextItem>
          </HelperText>
        </FormHelperText>
      )}
    </FormGroup>
  );
}
