import { Button } from '@patternfly/react-core/dist/dynamic/components/Button';
import {
  ActionGroup,
  Form,
  FormGroup,
  FormHelperText,
} from '@patternfly/react-core/dist/dynamic/components/Form';
import { HelperText, HelperTextItem } from '@patternfly/react-core/dist/dynamic/components/HelperText';
import {
  Modal,
  ModalBody,
  ModalFooter,
  ModalHeader,
} from '@patternfly/react-core/dist/dynamic/components/Modal';
import { TextInput } from '@patternfly/react-core/dist/dynamic/components/TextInput';
import { type HTMLInputTypeAttribute, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { type Change, Failure } from './service-calls.tsx';
import { useUnsaved } from './unsaved.tsx';

/** A form in a dialog. It closes after a success. After a failure it stays open, keeps its input and says why. */
export function FormDialog(props: {
  title: string;
  description?: ReactNode;
  submit: string;
  danger?: boolean;
  disabled?: boolean;
  /** Default: small. */
  size?: 'small' | 'medium' | 'large';
  change: Change;
  onClose: () => void;
  children?: ReactNode;
}) {
  const form = useId();
  const showFault = useFaultFocus(form);
  const title = useId();
  return (
    <Modal variant={props.size ?? 'small'} isOpen onClose={props.onClose} aria-labelledby={title}>
      <ModalHeader title={props.title} labelId={title} description={props.description} />
      <ModalBody>
        <Form
          id={form}
          onSubmit={(event) => {
            event.preventDefault();
            // In React the event bubbles to the form that opened the dialog, which would be submitted too.
            event.stopPropagation();
            if (props.disabled !== true)
              void props.change.run().then((end) => (end === 'done' ? props.onClose() : showFault()));
          }}
        >
          {props.children}
          <Failure of={props.change} />
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

/**
 * A form on a screen. It asks before the user leaves it with unsaved changes, and shows why saving failed above its
 * buttons.
 *
 * @param props `dirty` is whether a field differs from the saved record; `onRevert` restores the saved values; `actions`
 *   are further buttons, such as one that deletes the record
 */
export function SaveForm(props: {
  change: Change;
  dirty: boolean;
  onRevert: () => void;
  /** Default: Save. */
  submit?: string;
  disabled?: boolean;
  actions?: ReactNode;
  children: ReactNode;
}) {
  const { change, dirty } = props;
  const form = useId();
  const showFault = useFaultFocus(form);
  useUnsaved(dirty);
  return (
    <Form
      id={form}
      isWidthLimited
      onSubmit={(event) => {
        event.preventDefault();
        if (!dirty || props.disabled === true) return;
        void change.run().then((end) => end === 'failed' && showFault());
      }}
    >
      {props.children}
      <Failure of={change} />
      <ActionGroup>
        <Button
          type="submit"
          isDisabled={!dirty || props.disabled === true || change.running}
          isLoading={change.running}
        >
          {props.submit ?? 'Save'}
        </Button>
        {dirty && !change.running ? (
          <Button variant="link" onClick={props.onRevert}>
            Revert
          </Button>
        ) : null}
        {props.actions}
      </ActionGroup>
    </Form>
  );
}

/** Time in milliseconds within which a form shows its faults. */
const RENDERED_MS = 500;

/**
 * Returns a function that moves the focus to the first field that the service rejects, if there is one. It may be out of
 * sight. The form may show its faults only at a later render.
 *
 * @param form the id of the form
 */
function useFaultFocus(form: string): () => void {
  const seeks = useRef(false);
  const seek = () => {
    const field = document.getElementById(form)?.querySelector<HTMLElement>('[aria-invalid=true]');
    if (!seeks.current || !field) return;
    seeks.current = false;
    field.focus();
  };
  useEffect(seek);
  return () => {
    seeks.current = true;
    seek();
    // A fault that appears while the user types must not move the focus.
    setTimeout(() => {
      seeks.current = false;
    }, RENDERED_MS);
  };
}

type TextType = Extract<HTMLInputTypeAttribute, 'text' | 'email' | 'password' | 'url'>;

/** A labelled text field. `error` is what is wrong with its value. */
export function TextField(props: {
  label: string;
  value: string;
  onChange: (value: string) => void;
  type?: TextType;
  required?: boolean;
  readOnly?: boolean;
  help?: string;
  error?: string | undefined;
  autoComplete?: string;
}) {
  const id = useId();
  const text = props.error ?? props.help;
  return (
    <FormGroup label={props.label} fieldId={id} isRequired={props.required === true}>
      <TextInput
        id={id}
        type={props.type ?? 'text'}
        value={props.value}
        isRequired={props.required === true}
        autoComplete={props.autoComplete ?? 'off'}
        onChange={(_event, value) => props.onChange(value)}
        validated={props.error === undefined ? 'default' : 'error'}
        {...(props.readOnly === true ? { readOnlyVariant: 'default' } : {})}
        {...(text === undefined ? {} : { 'aria-describedby': `${id}-help` })}
      />
      <FieldHelp id={`${id}-help`} help={props.help} error={props.error} />
    </FormGroup>
  );
}

/** The text below a field: what is wrong with its value, or else what the field means. */
export function FieldHelp(props: { id: string; help: string | undefined; error?: string | undefined }) {
  const text = props.error ?? props.help;
  if (text === undefined) return null;
  return (
    <FormHelperText>
      <HelperText>
        <HelperTextItem id={props.id} variant={props.error === undefined ? 'default' : 'error'}>
          {/* Errors of the service begin in lower case, because they follow the name of the field elsewhere. */}
          {text.charAt(0).toUpperCase() + text.slice(1)}
        </HelperTextItem>
      </HelperText>
    </FormHelperText>
  );
}

/**
 * A button for a change that cannot be undone. It asks for confirmation first.
 *
 * @param props `name` is the text for screen readers, if `label` is ambiguous; `inline` is for rows of a table;
 *   `typed` is a name that the user must type before the change can run
 */
export function ConfirmButton(props: {
  label: string;
  name?: string;
  inline?: boolean;
  title: string;
  description: string;
  submit: string;
  typed?: string;
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
      {confirming ? <Confirm {...props} onClose={() => setConfirming(false)} /> : null}
    </>
  );
}

function Confirm(props: {
  title: string;
  description: string;
  submit: string;
  typed?: string;
  change: Change;
  onClose: () => void;
}) {
  const [typed, setTyped] = useState('');
  return (
    <FormDialog
      title={props.title}
      description={props.description}
      submit={props.submit}
      danger
      disabled={props.typed !== undefined && typed !== props.typed}
      change={props.change}
      onClose={props.onClose}
    >
      {props.typed === undefined ? null : (
        <TextField label={`Type ${props.typed} to confirm`} required value={typed} onChange={setTyped} />
      )}
    </FormDialog>
  );
}
