import { pageScript } from './policy.ts';

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
