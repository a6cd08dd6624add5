import { type ReactNode, useState } from 'react';
import { SaveForm } from './forms.tsx';
import type { Change } from './service-calls.tsx';
import { withoutSent } from './without-sent.ts';

/** What the user has entered into the form of a record, and not saved yet. */
export interface Draft<T> {
  /** The stored values with the user's changes. */
  value: T;
  /** Whether it differs from what is stored. */
  dirty: boolean;
  change(part: Partial<T>): void;
  clear(): void;
  /** Returns a function that forgets the changes up to now. It keeps what the user enters until it is called. */
  saving(): () => void;
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
    saving: () => () => setChanged((now) => withoutSent(now, changed)),
  };
}

/**
 * The form of a record: a `SaveForm` that saves a draft.
 *
 * @param props `actions` are further buttons
 */
export function RecordForm<T>(props: {
  change: Change;
  draft: Draft<T>;
  disabled?: boolean;
  actions?: ReactNode;
  children: ReactNode;
}) {
  const { change, draft } = props;
  const run = async () => {
    const forget = draft.saving();
    const end = await change.run();
    if (end === 'done') forget();
    return end;
  };
  return (
    <SaveForm
      change={{ ...change, run }}
      dirty={draft.dirty}
      disabled={props.disabled === true}
      onRevert={draft.clear}
      actions={props.actions}
    >
      {props.children}
    </SaveForm>
  );
}
