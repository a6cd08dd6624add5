import { Button } from '@patternfly/react-core/dist/dynamic/components/Button';
import {
  Modal,
  ModalBody,
  ModalFooter,
  ModalHeader,
} from '@patternfly/react-core/dist/dynamic/components/Modal';
import { createContext, type ReactNode, useCallback, useContext, useEffect, useRef, useState } from 'react';
import { guardScreen } from '../address/address.ts';

/** Holds the user on the screen until the returned function is called. */
type Hold = () => () => void;

const Context = createContext<Hold>(() => () => undefined);

function askBrowser(event: BeforeUnloadEvent): void {
  event.preventDefault();
}

/** Asks before the user leaves a screen with unsaved changes: in the console, and when the page is closed. */
export function UnsavedProvider(props: { children: ReactNode }) {
  const [leave, setLeave] = useState<() => void>();
  const held = useRef(0);
  const release = useRef<() => void>(undefined);
  const hold = useCallback<Hold>(() => {
    held.current += 1;
    if (held.current === 1) {
      const free = guardScreen((next) => setLeave(() => next));
      addEventListener('beforeunload', askBrowser);
      release.current = () => {
        free();
        removeEventListener('beforeunload', askBrowser);
      };
    }
    return () => {
      held.current -= 1;
      if (held.current === 0) release.current?.();
    };
  }, []);
  const stay = () => setLeave(undefined);
  return (
    <Context value={hold}>
      {props.children}
      {leave === undefined ? null : (
        <Modal variant="small" isOpen onClose={stay} aria-labelledby="leave-title">
          <ModalHeader title="Leave without saving?" labelId="leave-title" />
          <ModalBody>Your changes on this screen are not saved.</ModalBody>
          <ModalFooter>
            <Button
              variant="danger"
              onClick={() => {
                stay();
                leave();
              }}
            >
              Discard changes
            </Button>
            <Button variant="link" onClick={stay}>
              Stay
            </Button>
          </ModalFooter>
        </Modal>
      )}
    </Context>
  );
}

/** While `dirty` is true, the user is asked before leaving the screen. */
export function useUnsaved(dirty: boolean): void {
  const hold = useContext(Context);
  useEffect(() => (dirty ? hold() : undefined), [dirty, hold]);
}
