import { html } from './html.ts';
import { framedScriptPolicy, type PageScript, pageScript } from './page-scripts.ts';
import type { RenderedPage } from './render.ts';

/**
 * A function in JavaScript that resolves to whether the page can use cookies. Browsers may block the cookies of a page
 * that another site frames.
 */
const STORAGE_ACCESS =
  'function access(){return document.hasStorageAccess?document.hasStorageAccess():Promise.resolve(true)}';

/**
 * Replies to a client's page that sends `client_id session_state` (Session Management 1.0 §3.2). The reply is
 * `unchanged` while the browser's login has that `session_state`, and `changed` otherwise. It is `error` if the browser
 * blocks cookies or the page does not belong to the client. The cookie contains only the SHA-256 of the session state.
 */
const statusScript = pageScript(`
(function () {
${STORAGE_ACCESS}
var verified = {};
function verify(client, origin) {
  var key = origin + ' ' + client;
  if (verified[key]) return Promise.resolve(true);
var parameters = new URLSearchParams({ client_id: client, origin: origin });
  return fetch(location.pathname + '/init?' + parameters).then(function (answer) {
    return verified[key] = answer.ok;
  });
}
function logins() {
  return document.cookie.split('; ').filter(function (pair) {
    return pair.indexOf('KEYCLOAK_SESSION=') === 0;
  }).map(function (pair) { return pair.slice(17); });
}
function digest(text) {
  return crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)).then(function (bytes) {
    return btoa(String.fromCharCode.apply(null, new Uint8Array(bytes)))
      .replace(/\\+/g, '-').replace(/\\//g, '_').replace(/=+$/, '');
  });
}
function check(client, state, origin) {
  return access().then(function (granted) {
    if (!granted) return 'error';
    return verify(client, origin).then(function (allowed) {
      if (!allowed) return 'error';
      var found = logins();
      if (found.length === 0 || state === '') return found.length === 0 && state === '' ? 'unchanged' : 'changed';
      return digest(state).then(function (hash) { return found.indexOf(hash) < 0 ? 'changed' : 'unchanged'; });
    });
  }).catch(function () { return 'error'; });
}
addEventListener('message', function (event) {
  var at = typeof event.data === 'string' ? event.data.lastIndexOf(' ') : -1;
  if (at < 1 || event.origin === 'null' || !event.source) return;
  check(event.data.slice(0, at), event.data.slice(at + 1), event.origin).then(function (status) {
    event.source.postMessage(status, event.origin);
  });
});
})()
`);

/** Sets two cookies with Keycloak's names, and opens the second page, which checks whether it can read them. */
const setScript = pageScript(`
(function () {
${STORAGE_ACCESS}
access().then(function (granted) {
  if (!granted) return parent.postMessage('unsupported', '*');
  document.cookie = 'KEYCLOAK_3P_COOKIE_SAMESITE=supported; Max-Age=60; SameSite=None; Secure';
  document.cookie = 'KEYCLOAK_3P_COOKIE=supported; Max-Age=60';
  location.replace('step2.html');
});
})()
`);

const readScript = pageScript(`
(function () {
var supported = document.cookie.indexOf('KEYCLOAK_3P_COOKIE') >= 0;
document.cookie = 'KEYCLOAK_3P_COOKIE_SAMESITE=; Max-Age=0; SameSite=None; Secure';
document.cookie = 'KEYCLOAK_3P_COOKIE=; Max-Age=0';
parent.postMessage(supported ? 'supported' : 'unsupported', '*');
})()
`);

/** The session iframe (Session Management 1.0 §3.2). */
export const loginStatusPage = scriptOnly('Login status', statusScript, true);

/** The two pages with which keycloak-js checks whether cookies work in its frames: one sets a cookie, one reads it. */
export const cookieSteps = [
  scriptOnly('Cookies', setScript, false),
  scriptOnly('Cookies', readScript, false),
] as const;

/** An invisible page with a script, which any origin may frame (docs/keycloak/pages.md#session-iframe). */
function scriptOnly(title: string, script: PageScript, connects: boolean): RenderedPage {
  const { markup } = html`<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>${title}</title></head>
<body>${script.element}</body>
</html>
`;
  return { markup, policy: framedScriptPolicy(script, connects) };
}
