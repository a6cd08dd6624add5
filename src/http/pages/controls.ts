import type { PageFrame } from '../../browser/index.ts';
import { attribute, type Html, type HtmlValue, html, safeLink } from './html.ts';

/** A labelled line to fill in. `id` is `name` unless given. */
export interface Field {
  label: string;
  name?: string | undefined;
  id?: string;
  type?: 'text' | 'password';
  value?: string | undefined;
  autocomplete?: string;
  /** Shown and not asked. */
  readOnly?: boolean;
  focused?: boolean;
  required?: boolean;
  className?: string;
  numeric?: boolean;
  /** What is wrong with it, said below it. */
  fault?: string | undefined;
  /** Id of the element that explains it. */
  describedBy?: string | undefined;
  invalid?: boolean;
}

/** Names and codes are no prose: browsers neither correct nor capitalize them. */
const PLAIN = html` autocapitalize="none" spellcheck="false"`;

/** A labelled field, with what is wrong with it below. */
export function field(options: Field): Html {
  const { label, name, type = 'text', value, fault, readOnly = false } = options;
  // What cannot be changed need not be asked for.
  const required = options.required === true && !readOnly;
  const id = options.id ?? name ?? '';
  const faultId = fault === undefined ? undefined : `input-error-${id}`;
  const invalid = fault !== undefined || options.invalid === true;
  return html`<div class="field">
<label for="${id}">${label}${required && html` <span class="star" aria-hidden="true">*</span>`}</label>
<input id="${id}"${attribute('name', name)} type="${type}"${attribute('value', value)}${attribute('autocomplete', options.autocomplete)}${attribute('class', options.className)}${PLAIN}${options.numeric && html` inputmode="numeric"`}${readOnly && html` readonly`}${required && html` aria-required="true"`}${invalid && html` aria-invalid="true"`}${attribute('aria-describedby', faultId ?? options.describedBy)}${options.focused && html` autofocus`}>
${fault !== undefined && html`<p class="fault" id="${faultId}">${fault}</p>`}
</div>
`;
}

/** A box to tick, or one of several to choose. */
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

/** A button that sends the form. */
export function submit(label: string, options: { id: string; name?: string; main?: boolean }): Html {
  const { id, name, main = true } = options;
  return html`<input class="button${main && ' main'}" type="submit" id="${id}"${attribute('name', name)} value="${label}">`;
}

/** What a form ends with. */
export function buttons(...content: readonly HtmlValue[]): Html {
  return html`<div class="buttons">${content}</div>
`;
}

/** A form that posts to `action`; the id stands first, where scripts that read pages by pattern expect it. */
export function form(id: string, action: string, ...content: readonly HtmlValue[]): Html {
  return html`<form id="${id}" action="${safeLink(action) ?? ''}" method="post">
${content}</form>
`;
}

/** A link, or its text alone where it may not be one. */
export function link(
  url: string | undefined,
  label: string,
  options: { id: string; className?: string },
): Html {
  const target = safeLink(url);
  if (target === undefined) return html`${label}`;
  return html`<a id="${options.id}"${attribute('class', options.className)} href="${target}">${label}</a>`;
}

/** Id of the message above the form where it says that something is wrong; fields point to it. */
export function errorId(frame: PageFrame): string | undefined {
  return frame.message?.kind === 'error' ? 'input-error' : undefined;
}
