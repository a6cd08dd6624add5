import { createHash } from 'node:crypto';
import { Html } from './html.ts';

/**
 * The Content-Security-Policy of a page (docs/keycloak/pages.md#content-security-policy). It has no `form-action`, because
 * browsers apply that to the redirect after a form, so a login could not return to its application.
 *
 * @param options `script` is the only script that may run; `frames` are the origins of the page's frames
 */
export function pagePolicy(options: { script?: PageScript; frames?: readonly string[] } = {}): string {
  const { script, frames = [] } = options;
  return [
    "default-src 'none'",
    "style-src 'self'",
    "img-src 'self'",
    ...(script === undefined ? [] : [`script-src ${script.source}`]),
    ...(frames.length === 0 ? [] : [`frame-src ${frames.join(' ')}`]),
    "frame-ancestors 'self'",
    "base-uri 'none'",
  ].join('; ');
}

/** Returns the Content-Security-Policy of an invisible page with a script, which pages of any origin may frame. */
export function framedScriptPolicy(script: PageScript, connects: boolean): string {
  return [
    "default-src 'none'",
    `script-src ${script.source}`,
    ...(connects ? ["connect-src 'self'"] : []),
    "base-uri 'none'",
  ].join('; ');
}

/** An inline script, and the hash with which a policy allows it. The script never contains data of a request. */
export interface PageScript {
  element: Html;
  /** The source expression for `script-src`. */
  source: string;
}

/** @param code a constant that does not contain `</script` */
export function pageScript(code: string): PageScript {
  const trimmed = code.trim();
  return {
    element: new Html(`<script>${trimmed}</script>`),
    source: `'sha256-${createHash('sha256').update(trimmed).digest('base64')}'`,
  };
}

/** How pages show times. */
export const TIME_FORMAT = {
  year: 'numeric',
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
  timeZoneName: 'short',
} as const;

/**
 * Adds to each password field a button that shows the password, and shows times in the reader's time zone. Its texts come
 * from the page, so the script contains no data of the request. Before the form is sent or the page is left, the password
 * is hidden again, so that browsers do not remember it as an ordinary text.
 */
export const enhanceScript = pageScript(
  `(function(){var page=document;
page.querySelectorAll('input[data-show]').forEach(function(input){
var button=page.createElement('button');
function set(shown){input.type=shown?'text':'password';button.className=shown?'reveal shown':'reveal';
button.title=shown?input.dataset.hide:input.dataset.show;button.setAttribute('aria-label',button.title)}
button.type='button';button.setAttribute('aria-controls',input.id);
button.innerHTML='<svg viewBox="0 0 24 24" aria-hidden="true"><path d="M2 12s3.6-6.5 10-6.5S22 12 22 12s-3.6 6.5-10 6.5S2 12 2 12Z"/><circle cx="12" cy="12" r="3"/><path class="slash" d="m4 20 16-16"/></svg>';
button.onclick=function(){set(input.type==='password')};
function hide(){set(false)}
input.form.addEventListener('submit',hide);addEventListener('pagehide',hide);
set(false);input.after(button)});
page.querySelectorAll('time').forEach(function(time){
var shown=new Intl.DateTimeFormat(page.documentElement.lang,${JSON.stringify(TIME_FORMAT)}).format(new Date(time.dateTime));
time.title=time.textContent;time.textContent=shown})
})()`,
);

/** How long the page waits for the frames of clients, in milliseconds. */
const FRAME_TIMEOUT = 5_000;

/** Submits the only form of the page (Form Post Response Mode §2). */
export const submitScript = pageScript('document.forms[0].submit()');

/**
 * Follows the link of the page once every frame has loaded, because the window's `load` event waits for frames
 * (Front-Channel Logout 1.0 §2). The URL comes from the link, so the script contains no data of the request.
 */
export const continueScript = pageScript(
  "(function(){var done,go=function(){if(!done){done=1;location.replace(document.getElementById('continue').href)}};" +
    `addEventListener('load',go);setTimeout(go,${FRAME_TIMEOUT})})()`,
);
