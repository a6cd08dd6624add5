import { Alert } from '@patternfly/react-core/dist/dynamic/components/Alert';
import { Button } from '@patternfly/react-core/dist/dynamic/components/Button';
import { Spinner } from '@patternfly/react-core/dist/dynamic/components/Spinner';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';

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
