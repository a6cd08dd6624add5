import { createHash } from 'node:crypto';
import { Html } from './html.ts';

/**
 * The Content-Security-Policy of a page (contract §5). There is no `form-action`: browsers apply it to the
 * redirect that follows a form, so a login would never come back to its application.
 *
 * @param options `script`: the one script that may run; `frames`: origins of the frames that the page holds
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

/** The policy of a page that holds a script and nothing to see, and that any origin may frame (contract §5). */
export function framedScriptPolicy(script: PageScript, connects: boolean): string {
  return [
    "default-src 'none'",
    `script-src ${script.source}`,
    ...(connects ? ["connect-src 'self'"] : []),
    "base-uri 'none'",
  ].join('; ');
}

/** A classic inline script with the hash that lets it run. Nothing of a request ever stands in it. */
export interface PageScript {
  element: Html;
  /** As it stands in `script-src`. */
  source: string;
}

/** @param code without `</script` and without anything that varies */
export function pageScript(code: string): PageScript {
  const trimmed = code.trim();
  return {
    element: new Html(`<script>${trimmed}</script>`),
    source: `'sha256-${createHash('sha256').update(trimmed).digest('base64')}'`,
  };
}

/** Milliseconds after which a client's frame that does not load no longer holds up the user. */
const FRAME_PATIENCE = 5_000;

/** Sends the page's one form (Form Post Response Mode §2). */
export const submitScript = pageScript('document.forms[0].submit()');

/**
 * Goes on once every frame has loaded: the window's `load` waits for frames (Front-Channel Logout 1.0 §2). The
 * target is that of the link, so nothing of the request stands in the script.
 */
export const continueScript = pageScript(
  "(function(){var done,go=function(){if(!done){done=1;location.replace(document.getElementById('continue').href)}};" +
    `addEventListener('load',go);setTimeout(go,${FRAME_PATIENCE})})()`,
);
