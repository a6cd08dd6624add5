import type { Message, PageFrame } from '../../browser/index.ts';
import { attribute, type Html, type HtmlValue, html, safeLink } from './html.ts';
import type { Texts } from './messages/texts.ts';

/** Options of a labelled text field. */
export interface Field {
  label: string;
  name?: string | undefined;
  /** Default: `name`. */
  id?: string;
  type?: 'text' | 'password';
  value?: string | undefined;
  autocomplete?: string;
  /** Whether the user may only read the value. */
  readOnly?: boolean;
  focused?: boolean;
  required?: boolean;
  className?: string;
  numeric?: boolean;
  /** The error message below the field. */
  fault?: string | undefined;
  /** The id of the element that describes the field. */
  describedBy?: string | undefined;
  invalid?: boolean;
  /** What the button says that a script adds to a password field, to show and to hide the password. */
  reveal?: { show: string; hide: string };
}

/** Prevents browsers from correcting or capitalizing names and codes. */
const PLAIN = html` autocapitalize="none" spellcheck="false"`;

/** A labelled text field with its error below. */
export function field(options: Field): Html {
  const { label, name, type = 'text', value, fault, readOnly = false } = options;
  // A field that the user cannot change must not be required.
  const required = options.required === true && !readOnly;
  const id = options.id ?? name ?? '';
  const faultId = fault === undefined ? undefined : `input-error-${id}`;
  const invalid = fault !== undefined || options.invalid === true;
  const { reveal } = options;
  const input = html`<input id="${id}"${attribute('name', name)} type="${type}"${attribute('value', value)}${attribute('autocomplete', options.autocomplete)}${attribute('class', options.className)}${PLAIN}${options.numeric && html` inputmode="numeric"`}${readOnly && html` readonly`}${required && html` aria-required="true"`}${invalid && html` aria-invalid="true"`}${attribute('aria-describedby', faultId ?? options.describedBy)}${attribute('data-show', reveal?.show)}${attribute('data-hide', reveal?.hide)}${options.focused && html` autofocus`}>`;
  return html`<div class="field">
<label for="${id}">${label}${required && html` <span class="star" aria-hidden="true">*</span>`}</label>
${reveal === undefined ? input : html`<div class="control">${input}</div>`}
${fault !== undefined && html`<p class="fault" id="${faultId}">${fault}</p>`}
</div>
`;
}

/** A labelled password field. The page needs `enhanceScript`, which adds a button that shows the password. */
export function passwordField(options: Omit<Field, 'type' | 'reveal' | 'value'>, texts: Texts): Html {
  const reveal = { show: texts.text('showPassword'), hide: texts.text('hidePassword') };
  return field({ ...options, type: 'password', reveal });
}

/** The id of the rules of a new password, to which the field refers. */
const RULES_ID = 'kc-password-rules';

/** The rules of the realm's password policy, and the two fields for a new password. */
export function newPasswordFields(
  rules: readonly Message[],
  frame: PageFrame,
  texts: Texts,
  options: { focused: boolean },
): readonly HtmlValue[] {
  const faulty = errorKeys(frame);
  const broken = faulty.some((key) => key === 'missingPasswordMessage' || key.startsWith('invalidPassword'));
  const different = faulty.includes('notMatchPasswordMessage');
  const describedBy = (...ids: readonly (string | false | undefined)[]) =>
    ids.filter(Boolean).join(' ') || undefined;
  const common = { autocomplete: 'new-password', required: true };
  return [
    rules.length > 0 &&
      html`<div class="rules quiet" id="${RULES_ID}"><p>${texts.text('passwordRules')}</p>
<ul>
${rules.map(
  (rule) => html`<li${faulty.includes(rule.key) && html` class="broken"`}>${texts.message(rule)}</li>
`,
)}</ul></div>
`,
    passwordField(
      {
        ...common,
        name: 'password-new',
        label: texts.text('passwordNew'),
        focused: options.focused,
        describedBy: describedBy(rules.length > 0 && RULES_ID, (broken || different) && errorId(frame)),
        invalid: broken || different,
      },
      texts,
    ),
    passwordField(
      {
        ...common,
        name: 'password-confirm',
        label: texts.text('passwordConfirm'),
        describedBy: different ? errorId(frame) : undefined,
        invalid: different,
      },
      texts,
    ),
  ];
}

/** Returns the keys of the error messages above the form. */
export function errorKeys({ message }: PageFrame): readonly string[] {
  if (message?.kind !== 'error') return [];
  return [message.key, ...(message.more ?? []).map(({ key }) => key)];
}

/** A checkbox or a radio button with its label. */
export function choice(options: {
  type: 'checkbox' | 'radio';
  id: string;
  name: string;
  value: string;
  label: string;
  checked: boolean;
}): Html {
  const { type, id, name, value, label, checked } = options;
  return html`<label class="choice" for="${id}"><input type="${type}" id="${id}" name="${name}" value="${value}"${checked && html` checked`}>${label}</label>
`;
}

/** The submit button of a form. */
export function submit(label: string, options: { id: string; name?: string; main?: boolean }): Html {
  const { id, name, main = true } = options;
  return html`<input class="button${main && ' main'}" type="submit" id="${id}"${attribute('name', name)} value="${label}">`;
}

/** The row of buttons at the end of a form. */
export function buttons(...content: readonly HtmlValue[]): Html {
  return html`<div class="buttons">${content}</div>
`;
}

/** A form that posts to `action`. The id is the first attribute, because some scripts find forms by that pattern. */
export function form(id: string, action: string, ...content: readonly HtmlValue[]): Html {
  return html`<form id="${id}" action="${safeLink(action) ?? ''}" method="post">
${content}</form>
`;
}

/** A link, or only its text if the URL is not safe. */
export function link(
  url: string | undefined,
  label: string,
  options: { id: string; className?: string },
): Html {
  // An empty URL opens the same page again.
  const target = url === '' ? '' : safeLink(url);
  if (target === undefined) return html`${label}`;
  return html`<a id="${options.id}"${attribute('class', options.className)} href="${target}">${label}</a>`;
}

/**
 * Returns the id of the message above the form if it is an error. Fields refer to that id, so that screen readers
 * announce the error.
 */
export function errorId(frame: PageFrame): string | undefined {
  return frame.message?.kind === 'error' ? 'input-error' : undefined;
}
