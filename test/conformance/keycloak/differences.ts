/**
 * Recorded cases to which idkit responds differently on purpose, as `area/id`, each with the reason. The test fails for
 * a listed case without a difference, so the list stays complete.
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

/** Recorded cases to which idkit responds with 501: parts of the administrative API that it does not have yet. */
export const NOT_YET_BUILT: ReadonlySet<string> = new Set([
  'admin-clients/installation',
  'admin-events-keys/server-info',
]);
