import {
  Alert,
  AlertActionCloseButton,
  AlertGroup,
} from '@patternfly/react-core/dist/dynamic/components/Alert';
import { createContext, type ReactNode, useCallback, useContext, useMemo, useState } from 'react';

interface Notice {
  id: number;
  kind: 'success' | 'danger';
  text: string;
}

/** Shows the outcome of the user's changes. */
export interface Notices {
  done(text: string): void;
  failed(text: string, error: unknown): void;
  /** Removes the notices of earlier failures. */
  forgetFailures(): void;
}

const Context = createContext<Notices>({
  done: () => undefined,
  failed: () => undefined,
  forgetFailures: () => undefined,
});

/** How long the notice of a success stays, in milliseconds. A failure stays until the user closes it or makes a change. */
const SUCCESS_TIMEOUT = 6000;

/** Shows the notices of the components below it. */
export function NoticesProvider(props: { children: ReactNode }) {
  const [notices, setNotices] = useState<readonly Notice[]>([]);
  const remove = useCallback((id: number) => setNotices((all) => all.filter((one) => one.id !== id)), []);
  const value = useMemo<Notices>(() => {
    let next = 0;
    const add = (kind: Notice['kind'], text: string) => {
      next += 1;
      const id = next;
      setNotices((all) => [...all.slice(-3), { id, kind, text }]);
      if (kind === 'success') setTimeout(() => remove(id), SUCCESS_TIMEOUT);
    };
    return {
      done: (text) => add('success', text),
      failed: (text, error) =>
        add('danger', `${text}: ${error instanceof Error ? error.message : String(error)}`),
      forgetFailures: () => setNotices((all) => all.filter(({ kind }) => kind !== 'danger')),
    };
  }, [remove]);
  return (
    <Context value={value}>
      {props.children}
      <AlertGroup isToast isLiveRegion>
        {notices.map((one) => (
          <Alert
            key={one.id}
            variant={one.kind}
            component="p"
            title={one.text}
            actionClose={<AlertActionCloseButton onClose={() => remove(one.id)} />}
          />
        ))}
      </AlertGroup>
    </Context>
  );
}

/** Returns the notices of the provider above. */
export function useNotices(): Notices {
  return useContext(Context);
}
