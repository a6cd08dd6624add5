import { Alert } from '@patternfly/react-core/dist/dynamic/components/Alert';
import { Button } from '@patternfly/react-core/dist/dynamic/components/Button';
import { Spinner } from '@patternfly/react-core/dist/dynamic/components/Spinner';
import { type UseQueryResult, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useNotices } from './notices.tsx';

/** Something that the user does to the service. */
export interface Act {
  running: boolean;
  /** Answers whether it was done; a failure has been told. */
  run(): Promise<'done' | 'failed'>;
}

/**
 * Does one thing at a time, says what became of it and asks again for everything that is shown.
 *
 * @param told what to say when it is done, and the beginning of what to say when it failed
 */
export function useAct(told: { done: string; failed: string }, work: () => Promise<unknown>): Act {
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
        notices.done(told.done);
        await queries.invalidateQueries();
        return 'done';
      } catch (error) {
        notices.failed(told.failed, error);
        return 'failed';
      } finally {
        setRunning(false);
      }
    },
  };
}

/** What a question to the service gave: its answer, a spinner, or why there is none and how to try again. */
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
