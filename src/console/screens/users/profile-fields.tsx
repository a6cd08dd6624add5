import type { ProfileAttribute } from '../../api/representations.ts';
import { LinesField, SelectField } from '../../components/choices.tsx';
import { TextField } from '../../components/forms.tsx';

/** The attributes that are fields of a user, with their labels. */
export const BASE_FIELDS: Readonly<Record<string, string>> = {
  username: 'Username',
  email: 'E-mail',
  firstName: 'First name',
  lastName: 'Last name',
};

/** Returns the label of an attribute. `${…}` is a key of Keycloak's message files, which the console does not have. */
export function labelOf({ name, displayName }: ProfileAttribute): string {
  const own = displayName === undefined || displayName.startsWith('${') ? undefined : displayName;
  return own ?? BASE_FIELDS[name] ?? name;
}

/** Returns the choices of an attribute, if its definition lists them. */
function choicesOf({ validations }: ProfileAttribute): readonly string[] | undefined {
  const choices = validations?.['options']?.['options'];
  return Array.isArray(choices) ? choices.map(String) : undefined;
}

/** Returns what the definition demands of a value, in words. */
function demandOf({ validations = {}, permissions }: ProfileAttribute): string {
  const { min, max } = (validations['length'] ?? {}) as { min?: number; max?: number };
  const parts = [
    min === undefined ? '' : `at least ${min} characters`,
    max === undefined ? '' : `at most ${max} characters`,
    validations['email'] === undefined ? '' : 'an e-mail address',
    validations['uri'] === undefined ? '' : 'a web address',
    validations['integer'] === undefined ? '' : 'a whole number',
    validations['iso-date'] === undefined ? '' : 'a date such as 2026-01-31',
  ].filter((part) => part !== '');
  const owner = permissions?.view?.includes('user') === false ? 'The user does not see it.' : '';
  return [parts.length === 0 ? '' : `Required form: ${parts.join(', ')}.`, owner].filter(Boolean).join(' ');
}

/** The field of an attribute that the realm's user profile defines. */
export function ProfileField(props: {
  attribute: ProfileAttribute;
  values: readonly string[];
  onChange: (values: readonly string[]) => void;
}) {
  const { attribute, values, onChange } = props;
  const label = labelOf(attribute);
  const choices = choicesOf(attribute);
  const help = demandOf(attribute);
  const helped = help === '' ? {} : { help };
  const readOnly = attribute.permissions?.edit?.includes('admin') === false;
  if (readOnly)
    return <TextField label={label} value={values.join(', ')} onChange={() => undefined} readOnly />;
  if (attribute.multivalued === true)
    return <LinesField label={`${label}, one per line`} value={values} onChange={onChange} {...helped} />;
  const [value = ''] = values;
  const change = (text: string) => onChange(text === '' ? [] : [text]);
  if (choices !== undefined) {
    const all = choices.includes(value) || value === '' ? choices : [value, ...choices];
    return (
      <SelectField
        label={label}
        value={value}
        onChange={change}
        options={[['', 'None'], ...all.map((one) => [one, one] as const)]}
        {...helped}
      />
    );
  }
  const required = attribute.required?.roles?.length === 0 || attribute.required?.roles?.includes('admin');
  return <TextField label={label} value={value} onChange={change} required={required === true} {...helped} />;
}
