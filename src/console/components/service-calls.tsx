import { Alert } from '@patternfly/react-core/dist/dynamic/components/Alert';
import { Button } from '@patternfly/react-core/dist/dynamic/components/Button';
import { Spinner } from '@patternfly/react-core/dist/dynamic/components/Spinner';
import { type UseQueryResult, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useNotices } from './notices.tsx';

/** A change that the user makes. */
export interface Change {
  running: boolean;
  /** Makes the change and reports the outcome to the user. Never throws. */
  run(): Promise<'done' | 'failed'>;
}

/**
 * Runs one change at a time, reports its outcome and reloads all data on the screen.
 *
 * @param notice the notice after a success, and the start of the notice after a failure
 */
export function useChange(notice: { done: string; failed: string }, work: () => Promise<unknown>): Change {
  const [running, setRunning] = useState(false);
  const notices = useNotices();
  const queries = useQueryClient();
  return {
    running,
    async run() {
      if (running) return 'failed';
      setRunning(true);
      notices.forgetFailures();
      try {
        await work();
        notices.done(notice.done);
        await queries.invalidateQueries();
        return 'done';
      } catch (error) {
        notices.failed(notice.failed, error);
        return 'failed';
      } finally {
        setRunning(false);
      }
    },
  };
}

/** Renders the result of a query: its data, a spinner while it loads, or its error with a button to try again. */
export function Loaded<T>(props: { of: UseQueryResult<T>; children: (value: T) => ReactNode }): ReactNode {
  const { data, error, refetch } = props.of;
  if (data !== undefined) return props.children(data);
  if (error === null) return <Spinner aria-label="Loading" />;
  return (
    <Alert
      isInline
      variant="danger"
      component="p"
      title={error.message}
      actionLinks={
        <Button variant="link" onClick={() => void refetch()}>
          Try again
        </Button>
      }
    />
  );
}
