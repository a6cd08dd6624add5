import { FormGroup } from '@patternfly/react-core/dist/dynamic/components/Form';
import { FormSelect, FormSelectOption } from '@patternfly/react-core/dist/dynamic/components/FormSelect';
import { InputGroup, InputGroupItem } from '@patternfly/react-core/dist/dynamic/components/InputGroup';
import { TextInput } from '@patternfly/react-core/dist/dynamic/components/TextInput';
import { useId, useState } from 'react';
import { FieldHelp } from './forms.tsx';

const UNITS = [
  [86_400, 'days'],
  [3600, 'hours'],
  [60, 'minutes'],
  [1, 'seconds'],
] as const;

/** Returns the largest unit in seconds of which the duration is a multiple. */
function unitOf(seconds: number): number {
  return UNITS.find(([unit]) => seconds !== 0 && seconds % unit === 0)?.[0] ?? 60;
}

/**
 * A field for a duration, with its unit. An empty field is NaN.
 *
 * @param props `zero` is what 0 means, as a choice of its own
 */
export function DurationField(props: {
  label: string;
  seconds: number;
  onChange: (seconds: number) => void;
  zero?: string | undefined;
  help?: string | undefined;
  error?: string | undefined;
}) {
  const { seconds, onChange, zero } = props;
  const id = useId();
  const [unit, setUnit] = useState(() => unitOf(seconds));
  const isZero = zero !== undefined && seconds === 0;
  // The saved value may have changed to one that is not a multiple of the unit.
  const shownUnit = seconds % unit === 0 || Number.isNaN(seconds) ? unit : unitOf(seconds);
  const error = props.error ?? (Number.isNaN(seconds) ? 'Enter a number' : undefined);
  return (
    <FormGroup label={props.label} fieldId={id}>
      <InputGroup className="duration">
        {isZero ? null : (
          <InputGroupItem>
            <TextInput
              id={id}
              type="number"
              min={0}
              step="any"
              value={Number.isNaN(seconds) ? '' : String(seconds / shownUnit)}
              onChange={(_event, text) =>
                onChange(text === '' ? Number.NaN : Math.round(Number(text) * shownUnit))
              }
              validated={error === undefined ? 'default' : 'error'}
              aria-describedby={`${id}-help`}
            />
          </InputGroupItem>
        )}
        <InputGroupItem isFill={isZero}>
          <FormSelect
            {...(isZero ? { id } : {})}
            aria-label={isZero ? props.label : `Unit of ${props.label}`}
            value={isZero ? 'zero' : String(shownUnit)}
            onChange={(_event, chosen) => {
              if (chosen === 'zero') {
                onChange(0);
                return;
              }
              const next = Number(chosen);
              setUnit(next);
              // The number stays as it is typed, in the new unit.
              if (isZero) onChange(next);
              else if (!Number.isNaN(seconds)) onChange((seconds / shownUnit) * next);
            }}
          >
            {UNITS.map(([one, name]) => (
              <FormSelectOption key={one} value={String(one)} label={name} />
            ))}
            {zero === undefined ? null : <FormSelectOption value="zero" label={zero} />}
          </FormSelect>
        </InputGroupItem>
      </InputGroup>
      <FieldHelp id={`${id}-help`} help={props.help} error={error} />
    </FormGroup>
  );
}

/** Renders a duration with its largest unit, for example `30 minutes` or `1 day`. */
export function formatDuration(seconds: number): string {
  const unit = unitOf(seconds);
  const name = UNITS.find(([one]) => one === unit)?.[1] ?? 'seconds';
  const count = seconds / unit;
  return `${count.toLocaleString()} ${count === 1 ? name.slice(0, -1) : name}`;
}
