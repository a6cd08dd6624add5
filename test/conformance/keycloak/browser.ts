import { readElements } from '../../http/pages/read-page.ts';

/** Ids and names that scripts written for Keycloak look for; the recording lists those of each page. */
const IDS = new Set(['kc-form-login', 'kc-login', 'kc-logout']);
const NAMES = new Set(['username', 'password', 'rememberMe', 'accept', 'cancel', 'confirmLogout', 'otp']);

/** The hooks of a page as the recording writes them: ids with #, names without, sorted. */
export function hooksOf(markup: string): readonly string[] {
  const hooks = readElements(markup).flatMap(({ attributes: { id = '', name = '' } }) => [
    ...(IDS.has(id) ? [`#${id}`] : []),
    ...(NAMES.has(name) ? [name] : []),
  ]);
  return [...new Set(hooks)].sort();
}

/** What a browser without scripts would send to where, from the page's form of that id, or its only one. */
export function readForm(markup: string, id?: string): { action: string; hidden: Record<string, string> } {
  const elements = readElements(markup);
  const form = elements.find(
    ({ tag, attributes }) => tag === 'form' && (id === undefined || attributes['id'] === id),
  );
  if (form === undefined) throw new Error(`no form ${id ?? ''} on the page`);
  const hidden = elements.filter(({ tag, attributes }) => tag === 'input' && attributes['type'] === 'hidden');
  return {
    action: form.attributes['action'] ?? '',
    hidden: Object.fromEntries(
      hidden.map(({ attributes }) => [attributes['name'] ?? '', attributes['value'] ?? '']),
    ),
  };
}

/** A redirect in the recording's parts. */
export function splitLocation(location: string): Record<string, unknown> {
  const url = new URL(location);
  const query = Object.fromEntries(url.searchParams);
  const fragment = Object.fromEntries(new URLSearchParams(url.hash.slice(1)));
  return {
    to: `${url.protocol}//${url.host}${url.pathname}`,
    ...(url.search === '' ? {} : { query }),
    ...(url.hash === '' ? {} : { fragment }),
  };
}

/** A parameter of a redirect, wherever it stands. */
export function parameterOf(location: string | null, name: string): string | undefined {
  if (location === null || !URL.canParse(location)) return undefined;
  const url = new URL(location);
  return url.searchParams.get(name) ?? new URLSearchParams(url.hash.slice(1)).get(name) ?? undefined;
}
