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

/** Says what became of something that the user did. */
export interface Notices {
  done(text: string): void;
  failed(what: string, error: unknown): void;
  /** Takes away what failed before. */
  forgetFailures(): void;
}

const Context = createContext<Notices>({
  done: () => undefined,
  failed: () => undefined,
  forgetFailures: () => undefined,
});

/** Milliseconds that a good message stays; a bad one stays until it is closed or something else is tried. */
const GOOD_NEWS = 6000;

/** Shows the messages that parts below it tell. */
export function NoticesProvider(props: { children: ReactNode }) {
  const [notices, setNotices] = useState<readonly Notice[]>([]);
  const remove = useCallback((id: number) => setNotices((all) => all.filter((one) => one.id !== id)), []);
  const value = useMemo<Notices>(() => {
    let next = 0;
    const add = (kind: Notice['kind'], text: string) => {
      next += 1;
      const id = next;
      setNotices((all) => [...all.slice(-3), { id, kind, text }]);
      if (kind === 'success') setTimeout(() => remove(id), GOOD_NEWS);
    };
    return {
      done: (text) => add('success', text),
      failed: (what, error) =>
        add('danger', `${what}: ${error instanceof Error ? error.message : String(error)}`),
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

/** Where a part tells how something went. */
export function useNotices(): Notices {
  return useContext(Context);
}
