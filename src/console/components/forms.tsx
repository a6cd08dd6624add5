import { Button } from '@patternfly/react-core/dist/dynamic/components/Button';
import { Form, FormGroup, FormHelperText } from '@patternfly/react-core/dist/dynamic/components/Form';
import { HelperText, HelperTextItem } from '@patternfly/react-core/dist/dynamic/components/HelperText';
import {
  Modal,
  ModalBody,
  ModalFooter,
  ModalHeader,
} from '@patternfly/react-core/dist/dynamic/components/Modal';
import { TextInput } from '@patternfly/react-core/dist/dynamic/components/TextInput';
import { type HTMLInputTypeAttribute, type ReactNode, useId, useState } from 'react';
import type { Change } from './service-calls.tsx';

/** A form in a dialog. It closes after a success. After a failure it stays open and keeps its input. */
export function FormDialog(props: {
  title: string;
  description?: ReactNode;
  submit: string;
  danger?: boolean;
  disabled?: boolean;
  change: Change;
  onClose: () => void;
  children?: ReactNode;
}) {
  const form = useId();
  const title = useId();
  return (
    <Modal variant="small" isOpen onClose={props.onClose} aria-labelledby={title}>
      <ModalHeader title={props.title} labelId={title} description={props.description} />
      <ModalBody>
        <Form
          id={form}
          onSubmit={(event) => {
            event.preventDefault();
            // In React the event bubbles to the form that opened the dialog, which would be submitted too.
            event.stopPropagation();
            if (props.disabled !== true)
              void props.change.run().then((end) => end === 'done' && props.onClose());
          }}
        >
          {props.children}
        </Form>
      </ModalBody>
      <ModalFooter>
        <Button
          type="submit"
          form={form}
          variant={props.danger === true ? 'danger' : 'primary'}
          isDisabled={props.disabled === true || props.change.running}
          isLoading={props.change.running}
        >
          {props.submit}
        </Button>
        <Button variant="link" onClick={props.onClose}>
          Cancel
        </Button>
      </ModalFooter>
    </Modal>
  );
}

type TextType = Extract<HTMLInputTypeAttribute, 'text' | 'email' | 'password' | 'url'>;

/** A labelled text field. */
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

/**
 * A button for a change that cannot be undone. It asks for confirmation first.
 *
 * @param props `name` is the text for screen readers, if `label` is ambiguous; `inline` is for rows of a table
 */
export function ConfirmButton(props: {
  label: string;
  name?: string;
  inline?: boolean;
  title: string;
  description: string;
  submit: string;
  change: Change;
}) {
  const [confirming, setConfirming] = useState(false);
  return (
    <>
      <Button
        variant="link"
        isDanger
        isInline={props.inline === true}
        aria-label={props.name ?? props.label}
        onClick={() => setConfirming(true)}
      >
        {props.label}
      </Button>
      {confirming ? (
        <FormDialog
          title={props.title}
          description={props.description}
          submit={props.submit}
          danger
          change={props.change}
          onClose={() => setConfirming(false)}
        />
      ) : null}
    </>
  );
}
