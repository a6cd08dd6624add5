import { Button } from '@patternfly/react-core/dist/dynamic/components/Button';
import { Form } from '@patternfly/react-core/dist/dynamic/components/Form';
import {
  Modal,
  ModalBody,
  ModalFooter,
  ModalHeader,
} from '@patternfly/react-core/dist/dynamic/components/Modal';
import { type ReactNode, useId } from 'react';
import type { Act } from './act.tsx';

/** A form over the page. It closes when what it does is done, and stays with everything typed when that failed. */
export function FormDialog(props: {
  title: string;
  description?: ReactNode;
  submit: string;
  danger?: boolean;
  disabled?: boolean;
  act: Act;
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
            // React carries it on to the form below that opened the dialog, which would be sent as well.
            event.stopPropagation();
            if (props.disabled !== true)
              void props.act.run().then((end) => end === 'done' && props.onClose());
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
          isDisabled={props.disabled === true || props.act.running}
          isLoading={props.act.running}
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
