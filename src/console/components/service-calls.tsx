import { Alert } from '@patternfly/react-core/dist/dynamic/components/Alert';
import { Button } from '@patternfly/react-core/dist/dynamic/components/Button';
import { Spinner } from '@patternfly/react-core/dist/dynamic/components/Spinner';
import { type UseQueryResult, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { AdminFault } from '../api/admin-api.ts';
import { useNotices } from './notices.tsx';

/** A change that the user makes. */
export interface Change {
  running: boolean;
  /** Makes the change and reports the outcome to the user. Never throws. */
  run(): Promise<'done' | 'failed'>;
  /** Why the last attempt failed. Undefined after a success, and while an attempt runs. */
  failure: string | undefined;
  /** Returns what the service rejects about a field of the representation, such as `email`. */
  faultOf(field: string): string | undefined;
  /** A component that shows `failure` calls this when it appears. No notice repeats it then. See `Failure`. */
  showsFailure(): () => void;
}

/**
 * Runs one change at a time, reports its outcome and reloads all data on the screen.
 *
 * @param notice the notice after a success, and the start of the notice after a failure
 */
export function useChange(notice: { done: string; failed: string }, work: () => Promise<unknown>): Change {
  const [running, setRunning] = useState(false);
  const [failed, setFailed] = useState<{ text: string; faults: ReadonlyMap<string, string> }>();
  const shown = useRef(0);
  const notices = useNotices();
  const queries = useQueryClient();
  return {
    running,
    failure: failed?.text,
    faultOf: (field) => failed?.faults.get(field),
    showsFailure: () => {
      shown.current += 1;
      return () => {
        shown.current -= 1;
      };
    },
    async run() {
      if (running) return 'failed';
      setRunning(true);
      setFailed(undefined);
      notices.forgetFailures();
      try {
        await work();
        notices.done(notice.done);
        await queries.invalidateQueries();
        return 'done';
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        setFailed({
          text: `${notice.failed}: ${message}`,
          faults: error instanceof AdminFault ? error.faults : new Map(),
        });
        if (shown.current === 0) notices.failed(notice.failed, error);
        return 'failed';
      } finally {
        setRunning(false);
      }
    },
  };
}

/** Shows why a change failed, at the place where the user made it. Stays until the next attempt. */
export function Failure({ of }: { of: Change }) {
  const { showsFailure } = of;
  // biome-ignore lint/correctness/useExhaustiveDependencies: every render creates a new function for the same change
  useEffect(showsFailure, []);
  if (of.failure === undefined) return null;
  return (
    <div role="alert">
      <Alert isInline variant="danger" component="p" title={of.failure} />
    </div>
  );
}

/**
 * Renders the result of a query: its data, a spinner while it loads, or its error with a button to try again. If data
 * cannot be loaded again, it stays, with the error above it.
 */
export function Loaded<T>(props: {
  of: Pick<UseQueryResult<T>, 'data' | 'error'> & { refetch: () => Promise<unknown> };
  children: (value: T) => ReactNode;
}): ReactNode {
  const { data, error, refetch } = props.of;
  if (data !== undefined)
    return (
      <>
        {error === null ? null : <NotLoaded title={`Not current: ${error.message}`} again={refetch} />}
        {props.children(data)}
      </>
    );
  if (error === null)
    return (
      <div className="loading">
        <Spinner aria-label="Loading" />
      </div>
    );
  return <NotLoaded title={error.message} again={refetch} />;
}

function NotLoaded(props: { title: string; again: () => Promise<unknown> }) {
  return (
    <Alert
      isInline
      variant="danger"
      component="p"
      title={props.title}
      actionLinks={
        <Button variant="link" onClick={() => void props.again()}>
          Try again
        </Button>
      }
    />
  );
}
