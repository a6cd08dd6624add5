import { Button } from '@patternfly/react-core/dist/dynamic/components/Button';
import { ActionGroup, Form } from '@patternfly/react-core/dist/dynamic/components/Form';
import { type ReactNode, useState } from 'react';
import type { Change } from './service-calls.tsx';

/** What the user has entered into the form of a record, and not saved yet. */
export interface Draft<T> {
  /** The stored values with the user's changes. */
  value: T;
  /** Whether it differs from what is stored. */
  dirty: boolean;
  change(part: Partial<T>): void;
  clear(): void;
}

/**
 * Keeps the changes of a form. Fields that nobody has changed follow the stored values.
 *
 * @param stored the values of the fields as they are stored, which can be written as JSON
 */
export function useDraft<T extends object>(stored: T): Draft<T> {
  const [changed, setChanged] = useState<Partial<T>>({});
  const value = { ...stored, ...changed };
  return {
    value,
    dirty: JSON.stringify(value) !== JSON.stringify(stored),
    change: (part) => setChanged((before) => ({ ...before, ...part })),
    clear: () => setChanged({}),
  };
}

/**
 * The form of a record, with a button that saves the changes and one that discards them.
 *
 * @param props `actions` are further buttons
 */
export function RecordForm<T>(props: {
  change: Change;
  draft: Draft<T>;
  actions?: ReactNode;
  children: ReactNode;
}) {
  const { change, draft } = props;
  return (
    <Form
      isWidthLimited
      onSubmit={(event) => {
        event.preventDefault();
        if (draft.dirty) void change.run().then((end) => end === 'done' && draft.clear());
      }}
    >
      {props.children}
      <ActionGroup>
        <Button type="submit" isDisabled={!draft.dirty || change.running} isLoading={change.running}>
          Save
        </Button>
        {draft.dirty ? (
          <Button variant="link" onClick={draft.clear}>
            Discard changes
          </Button>
        ) : null}
        {props.actions}
      </ActionGroup>
    </Form>
  );
}
