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
 *   field, then to the first field
 */
export function profileFields(
  fields: readonly PageField[],
  texts: Texts,
  { focus }: { focus: 'always' | 'faulty' },
): readonly HtmlValue[] {
  const open = fields.filter((entry) => !entry.readOnly);
  const faulty = open.find((entry) => entry.fault !== undefined);
  const focused =
    faulty ?? (focus === 'always' ? (open.find((entry) => entry.value === '') ?? open[0]) : undefined);
  return [
    fields.some((entry) => entry.required) && starHint(texts),
    fields.map((entry) =>
      field({
        name: entry.name,
        label: texts.message(entry.label),
        value: entry.value,
        readOnly: entry.readOnly,
        required: entry.required,
        focused: entry === focused,
        ...autocompleteOf(entry.name),
        ...(entry.fault === undefined ? {} : { fault: texts.message(entry.fault) }),
      }),
    ),
  ];
}

function starHint(texts: Texts): Html {
  return html`<p class="quiet">${texts.text('requiredFields')}</p>
`;
}

function autocompleteOf(name: string): { autocomplete?: string } {
  const autocomplete = Object.hasOwn(AUTOCOMPLETE, name) ? AUTOCOMPLETE[name] : undefined;
  return autocomplete === undefined ? {} : { autocomplete };
}
