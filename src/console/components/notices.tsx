import { Alert, AlertActionCloseButton } from '@patternfly/react-core/dist/dynamic/components/Alert';
import { createContext, type ReactNode, useCallback, useContext, useMemo, useRef, useState } from 'react';

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

/**
 * How long a notice stays, in milliseconds. It stays longer while the pointer moved onto the notices, or the focus is
 * there. A notice that appears under the pointer leaves as any other.
 */
const STAYS = { success: 6000, danger: 20_000 } as const;

/**
 * Shows the notices of the components below it, in a strip under the page. The page becomes shorter, so a notice never
 * covers a button.
 */
export function NoticesProvider(props: { children: ReactNode }) {
  const [notices, setNotices] = useState<readonly Notice[]>([]);
  const reading = useRef(false);
  const remove = useCallback((id: number) => setNotices((all) => all.filter((one) => one.id !== id)), []);
  const value = useMemo<Notices>(() => {
    let next = 0;
    const removeLater = (id: number, kind: Notice['kind']): void => {
      setTimeout(() => (reading.current ? removeLater(id, kind) : remove(id)), STAYS[kind]);
    };
    const add = (kind: Notice['kind'], text: string) => {
      next += 1;
      const id = next;
      // A repeated notice replaces the earlier one.
      setNotices((all) => [...all.filter((one) => one.text !== text).slice(-1), { id, kind, text }]);
      removeLater(id, kind);
    };
    return {
      done: (text) => add('success', text),
      failed: (text, error) =>
        add('danger', `${text}: ${error instanceof Error ? error.message : String(error)}`),
      forgetFailures: () => setNotices((all) => all.filter(({ kind }) => kind !== 'danger')),
    };
  }, [remove]);
  const read = (now: boolean) => () => {
    reading.current = now;
  };
  return (
    <Context value={value}>
      <div className="layout">
        <div className="page">{props.children}</div>
        {/* biome-ignore lint/a11y/noStaticElementInteractions: pointing at the notices only keeps them for longer */}
        <div
          className="notices"
          aria-live="polite"
          onMouseMove={read(true)}
          onMouseLeave={read(false)}
          onFocus={read(true)}
          onBlur={read(false)}
        >
          {notices.map((one) => (
            <Alert
              key={one.id}
              isInline
              variant={one.kind}
              component="p"
              title={one.text}
              actionClose={
                <AlertActionCloseButton
                  onClose={() => {
                    reading.current = false;
                    remove(one.id);
                  }}
                />
              }
            />
          ))}
        </div>
      </div>
    </Context>
  );
}

/** Returns the notices of the provider above. */
export function useNotices(): Notices {
  return useContext(Context);
}
