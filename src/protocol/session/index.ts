// Session: how a user session begins, how long it lives, how it ends, and who is notified of its end.
// Not decided here: the cookies of a browser's session (the browser room), the rotation of a refresh token (grants/).
// Start at end-session.ts.

export { openLogoutAnnouncer, type PostForm } from './back-channel-logout.ts';
export { endSessionOf, withOfflineClients } from './end-session.ts';
export { newFamily, newUserSession, startRecord } from './new-session.ts';
