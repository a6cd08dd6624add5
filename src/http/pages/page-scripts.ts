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
