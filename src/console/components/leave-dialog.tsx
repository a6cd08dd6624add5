import { Button } from '@patternfly/react-core/dist/dynamic/components/Button';
import {
  Modal,
  ModalBody,
  ModalFooter,
  ModalHeader,
} from '@patternfly/react-core/dist/dynamic/components/Modal';

/** Asks whether to leave a screen with unsaved changes. */
export function LeaveDialog(props: { onLeave: () => void; onStay: () => void }) {
  return (
    <Modal variant="small" isOpen onClose={props.onStay} aria-labelledby="leave-title">
      <ModalHeader title="Leave without saving?" labelId="leave-title" />
      <ModalBody>Your changes on this screen are not saved.</ModalBody>
      <ModalFooter>
        <Button variant="danger" onClick={props.onLeave}>
          Discard changes
        </Button>
        <Button variant="link" onClick={props.onStay}>
          Stay
        </Button>
      </ModalFooter>
    </Modal>
  );
}
