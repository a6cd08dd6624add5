import type { PageField } from '../../browser/index.ts';
import { field } from './controls.ts';
import { type Html, type HtmlValue, html } from './html.ts';
import type { Texts } from './messages/texts.ts';

const AUTOCOMPLETE: Readonly<Record<string, string>> = {
  username: 'username',
  email: 'email',
  firstName: 'given-name',
  lastName: 'family-name',
};

/**
 * The fields of a user's profile.
 *
 * @param focus which field has the focus: `faulty` is the first invalid field; `always` falls back to the first empty
 * one, then to the first
 */
export function profileFields(
  fields: readonly PageField[],
  texts: Texts,
  { focus }: { focus: 'always' | 'faulty' },
): readonly HtmlValue[] {
  const open = fields.filter((one) => !one.readOnly);
  const faulty = open.find((one) => one.fault !== undefined);
  const focused =
    faulty ?? (focus === 'always' ? (open.find((one) => one.value === '') ?? open[0]) : undefined);
  return [
    fields.some((one) => one.required) && starHint(texts),
    fields.map((one) =>
      field({
        name: one.name,
        label: texts.message(one.label),
        value: one.value,
        readOnly: one.readOnly,
        required: one.required,
        focused: one === focused,
        ...autocompleteOf(one.name),
        ...(one.fault === undefined ? {} : { fault: texts.message(one.fault) }),
      }),
    ),
  ];
}

function starHint(texts: Texts): Html {
  return html`<p class="quiet">${texts.text('requiredFields')}</p>
`;
}

function autocompleteOf(name: string): { autocomplete?: string } {
  return Object.hasOwn(AUTOCOMPLETE, name) ? { autocomplete: AUTOCOMPLETE[name]! } : {};
}
