import {
  type ComponentProps,
  type ComponentType,
  createContext,
  type ReactNode,
  useCallback,
  useContext,
  useEffect,
  useRef,
  useState,
} from 'react';
import { guardScreen } from '../address/address.ts';
import type { LeaveDialog } from './leave-dialog.tsx';

/** Holds the user on the screen until the returned function is called. */
type Hold = () => () => void;

const Context = createContext<Hold>(() => () => undefined);

function askBrowser(event: BeforeUnloadEvent): void {
  event.preventDefault();
}

/** Asks before the user leaves a screen with unsaved changes: in the console, and when the page is closed. */
export function UnsavedProvider(props: { children: ReactNode }) {
  const [leave, setLeave] = useState<() => void>();
  const [Dialog, setDialog] = useState<ComponentType<ComponentProps<typeof LeaveDialog>>>();
  const held = useRef(0);
  const release = useRef<() => void>(undefined);
  const hold = useCallback<Hold>(() => {
    held.current += 1;
    if (held.current === 1) {
      const free = guardScreen((next) => setLeave(() => next));
      addEventListener('beforeunload', askBrowser);
      // The first change loads the dialog, so that it is there when the user leaves. Without it, the user may leave.
      import('./leave-dialog.tsx').then(
        (module) => setDialog(() => module.LeaveDialog),
        () => free(),
      );
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
      {leave === undefined || Dialog === undefined ? null : (
        <Dialog
          onStay={stay}
          onLeave={() => {
            stay();
            leave();
          }}
        />
      )}
    </Context>
  );
}

/** While `dirty` is true, the user is asked before leaving the screen. */
export function useUnsaved(dirty: boolean): void {
  const hold = useContext(Context);
  useEffect(() => (dirty ? hold() : undefined), [dirty, hold]);
}
