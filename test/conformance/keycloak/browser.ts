import { readElements } from '../../http/pages/read-page.ts';

/** The ids and names that scripts for Keycloak rely on. The recording has those of each page. */
const IDS = new Set(['kc-form-login', 'kc-login', 'kc-logout']);
const NAMES = new Set(['username', 'password', 'rememberMe', 'accept', 'cancel', 'confirmLogout', 'otp']);

/** The target and the fields of a form, as a browser without scripts submits it. */
export interface PageForm {
  action: string;
  /** The hidden fields. */
  fields: Record<string, string>;
}

/** The form with that id, or the only form of the page. */
export function findForm(body: unknown, id?: string): PageForm | undefined {
  const elements = readElements(String(body));
  const form = elements.find(
    ({ tag, attributes }) => tag === 'form' && (id === undefined || attributes['id'] === id),
  );
  if (form === undefined) return undefined;
  const hidden = elements.filter(({ tag, attributes }) => tag === 'input' && attributes['type'] === 'hidden');
  return {
    action: form.attributes['action'] ?? '',
    fields: Object.fromEntries(
      hidden.map(({ attributes }) => [attributes['name'] ?? '', attributes['value'] ?? '']),
    ),
  };
}

/** The value of a field of a page. */
export function findInput(body: unknown, name: string): string | undefined {
  return readElements(String(body)).find(({ attributes }) => attributes['name'] === name)?.attributes[
    'value'
  ];
}

/** The ids and names of a page in the format of the recording: ids with #, names without, sorted. */
export function pageHooks(body: unknown): string[] {
  const hooks = readElements(String(body)).flatMap(({ attributes: { id = '', name = '' } }) => [
    ...(IDS.has(id) ? [`#${id}`] : []),
    ...(NAMES.has(name) ? [name] : []),
  ]);
  return [...new Set(hooks)].sort();
}

/** Splits a redirect into the parts of the recording. Returns its text if it has neither a query nor a fragment. */
export function splitLocation(location: string | null): unknown {
  if (location === null || !URL.canParse(location)) return location;
  const { search, hash, searchParams } = new URL(location);
  if (search === '' && hash === '') return location;
  return {
    to: location.slice(0, location.search(/[?#]/)),
    ...(search === '' ? {} : { query: Object.fromEntries(searchParams) }),
    ...(hash === '' ? {} : { fragment: Object.fromEntries(new URLSearchParams(hash.slice(1))) }),
  };
}

/** A parameter of a redirect, in its query or its fragment. */
export function redirectParameter(location: string | null, name: string): string | undefined {
  if (location === null || !URL.canParse(location)) return undefined;
  const { searchParams, hash } = new URL(location);
  return searchParams.get(name) ?? new URLSearchParams(hash.slice(1)).get(name) ?? undefined;
}
