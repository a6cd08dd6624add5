import { Button } from '@patternfly/react-core/dist/dynamic/components/Button';
import { FormGroup } from '@patternfly/react-core/dist/dynamic/components/Form';
import { TextInput } from '@patternfly/react-core/dist/dynamic/components/TextInput';
import { useId } from 'react';
import type { Attributes } from '../api/representations.ts';

/** A name and one value. An attribute with several values has a line for each of them. */
export interface AttributeLine {
  /** Identifies the line while its name and value change. */
  key: number;
  name: string;
  value: string;
}

/** Returns a line for each value, sorted by name. */
export function attributeLines(attributes: Attributes): readonly AttributeLine[] {
  return Object.entries(attributes)
    .toSorted(([one], [other]) => one.localeCompare(other))
    .flatMap(([name, values]) => values.map((value) => ({ name, value })))
    .map((line, key) => ({ key, ...line }));
}

/** Returns the attributes that the lines describe. Lines without a name are left out. */
export function readAttributes(lines: readonly AttributeLine[]): Attributes {
  const attributes = new Map<string, string[]>();
  for (const { name, value } of lines) {
    const key = name.trim();
    if (key !== '') attributes.set(key, [...(attributes.get(key) ?? []), value]);
  }
  return Object.fromEntries(attributes);
}

/** An editor of attributes: a line for each value, with buttons to add and remove lines. */
export function AttributeFields(props: {
  label: string;
  lines: readonly AttributeLine[];
  onChange: (lines: readonly AttributeLine[]) => void;
}) {
  const id = useId();
  const change = (key: number, part: Partial<AttributeLine>) =>
    props.onChange(props.lines.map((line) => (line.key === key ? { ...line, ...part } : line)));
  return (
    <FormGroup role="group" label={props.label} fieldId={id}>
      <div id={id}>
        {props.lines.map(({ key, name, value }, index) => (
          <div key={key} className="attribute">
            <TextInput
              aria-label={`Name of attribute ${index + 1}`}
              placeholder="Name"
              value={name}
              validated={name.trim() === '' && value !== '' ? 'error' : 'default'}
              onChange={(_event, text) => change(key, { name: text })}
            />
            <TextInput
              aria-label={`Value of attribute ${index + 1}`}
              placeholder="Value"
              value={value}
              onChange={(_event, text) => change(key, { value: text })}
            />
            <Button
              variant="link"
              aria-label={`Remove attribute ${index + 1}`}
              onClick={() => props.onChange(props.lines.filter((line) => line.key !== key))}
            >
              Remove
            </Button>
            {name.trim() === '' && value !== '' ? (
              <p className="wrong">This value has no name, so it is not saved.</p>
            ) : null}
          </div>
        ))}
        <Button
          variant="link"
          isInline
          onClick={() =>
            props.onChange([
              ...props.lines,
              { key: Math.max(-1, ...props.lines.map(({ key }) => key)) + 1, name: '', value: '' },
            ])
          }
        >
          Add attribute
        </Button>
      </div>
    </FormGroup>
  );
}
