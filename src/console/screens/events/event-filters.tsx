import { Button } from '@patternfly/react-core/dist/dynamic/components/Button';
import { FormSelect, FormSelectOption } from '@patternfly/react-core/dist/dynamic/components/FormSelect';
import { TextInput } from '@patternfly/react-core/dist/dynamic/components/TextInput';
import { useId, useState } from 'react';
import { useAddressQuery } from '../../address/address.ts';

/** One filter of a list of events. Its name is that of the parameter in the address of the screen. */
export interface Filter {
  name: string;
  label: string;
  kind: 'text' | 'date' | 'choice';
  /** The values of a choice, with their titles. */
  choices?: readonly (readonly [value: string, title: string])[];
}

/** Returns the values of the filters in the address, by name. A filter that is not set is empty. */
export function useFilters(filters: readonly Filter[]): Readonly<Record<string, string>> {
  const [query] = useAddressQuery();
  return Object.fromEntries(filters.map(({ name }) => [name, query.get(name) ?? '']));
}

/** Returns the first millisecond of a day such as `2026-01-31` in the reader's time zone, or of the day after it. */
export function startOfDay(date: string, plusDays = 0): number {
  const [year = 0, month = 1, day = 1] = date.split('-').map(Number);
  return new Date(year, month - 1, day + plusDays).getTime();
}

/** The filters of a list. They apply when the user submits them, and are part of the address. */
export function EventFilters({ label, filters }: { label: string; filters: readonly Filter[] }) {
  const set = useFilters(filters);
  const [, change] = useAddressQuery();
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({});
  const id = useId();
  const values = { ...set, ...typed };
  const apply = (next: Readonly<Record<string, string>>) => {
    change({ ...next, page: '' });
    setTyped({});
  };
  const none = Object.fromEntries(filters.map(({ name }) => [name, '']));
  return (
    <form
      className="filters"
      aria-label={label}
      onSubmit={(event) => {
        event.preventDefault();
        apply(Object.fromEntries(Object.entries(values).map(([name, value]) => [name, value.trim()])));
      }}
    >
      {filters.map(({ name, label: title, kind, choices = [] }) => (
        <div key={name}>
          <label htmlFor={`${id}-${name}`}>{title}</label>
          {kind === 'choice' ? (
            <FormSelect
              id={`${id}-${name}`}
              value={values[name] ?? ''}
              onChange={(_event, value) => apply({ ...values, [name]: value })}
            >
              {[['', 'All'] as const, ...choices].map(([value, text]) => (
                <FormSelectOption key={value} value={value} label={text} />
              ))}
            </FormSelect>
          ) : (
            <TextInput
              id={`${id}-${name}`}
              type={kind}
              value={values[name] ?? ''}
              onChange={(_event, value) => setTyped({ ...typed, [name]: value })}
            />
          )}
        </div>
      ))}
      <div className="buttons">
        <Button type="submit" variant="secondary">
          Filter
        </Button>
        {Object.values(set).some((value) => value !== '') ? (
          <Button variant="link" onClick={() => apply(none)}>
            Clear filters
          </Button>
        ) : null}
      </div>
    </form>
  );
}
