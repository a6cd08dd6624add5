import { readElements } from '../../http/pages/read-page.ts';

/** The element ids and field names that scripts for Keycloak rely on. The recording lists those of each page. */
const IDS = new Set(['kc-form-login', 'kc-login', 'kc-logout']);
const NAMES = new Set(['username', 'password', 'rememberMe', 'accept', 'cancel', 'confirmLogout', 'otp']);

/** A form of a page. */
export interface PageForm {
  action: string;
  /** Values of the hidden fields by name. */
  fields: Record<string, string>;
}

/** Returns the form with this id, or the first form of the page if there is no id. */
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

/** Returns the value of the field with this name. */
export function findInput(body: unknown, name: string): string | undefined {
  return readElements(String(body)).find(({ attributes }) => attributes['name'] === name)?.attributes[
    'value'
  ];
}

/** Returns a page's ids and names as the recording lists them: sorted, and ids with a leading `#`. */
export function pageHooks(body: unknown): string[] {
  const hooks = readElements(String(body)).flatMap(({ attributes: { id = '', name = '' } }) => [
    ...(IDS.has(id) ? [`#${id}`] : []),
    ...(NAMES.has(name) ? [name] : []),
  ]);
  return [...new Set(hooks)].sort();
}

/**
 * Splits a redirect into its address, query and fragment, as the recording does. Returns the text if it has neither a
 * query nor a fragment.
 */
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

/** Returns a parameter in the query or the fragment of a redirect. */
export function redirectParameter(location: string | null, name: string): string | undefined {
  if (location === null || !URL.canParse(location)) return undefined;
  const { searchParams, hash } = new URL(location);
  return searchParams.get(name) ?? new URLSearchParams(hash.slice(1)).get(name) ?? undefined;
}
