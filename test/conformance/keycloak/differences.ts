/**
 * Recorded cases, as `area/id`, to which idkit responds differently on purpose, each with the reason. A test fails if
 * idkit responds to a listed case as Keycloak does, so that no entry is outdated.
 */
export const DELIBERATE_DIFFERENCES: Readonly<Record<string, string>> = {
  'health-and-headers/no-content':
    'responses to forms have the stricter policy of docs/keycloak/pages.md#content-security-policy',
  'health-and-headers/login-page':
    'pages have the stricter policy of docs/keycloak/pages.md#content-security-policy',
  'health-and-headers/error-page':
    'pages have the stricter policy of docs/keycloak/pages.md#content-security-policy',
  'health-and-headers/redirect':
    'redirects have the stricter policy of docs/keycloak/pages.md#content-security-policy',
  'tokens/master-admin':
    'access tokens are valid for 300 seconds in every realm (docs/keycloak/sessions.md#defaults)',
};

/**
 * Recorded cases to which idkit responds with 501, because it does not have that part of the administrative API yet.
 */
export const NOT_YET_BUILT: ReadonlySet<string> = new Set([
  'admin-clients/installation',
  'admin-events-keys/server-info',
]);
