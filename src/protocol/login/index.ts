// Login: how a user proves a password and a second factor, lockouts, required actions, and password changes.
// Not decided here: the pages of a login (the browser room) and the session that follows it (session/).
// Start at prove-user.ts.

export { type LoginAttempt, onBehalfOf, senderOf, typedPassword } from './attempt.ts';
export { changePassword, type PasswordChange } from './change-password.ts';
export { isLockedNow } from './failures.ts';
export { listLoginActions } from './pending-actions.ts';
export { proveCode, provePassword, stillHolds } from './prove-user.ts';
export { describeUnsupported, listSecondFactors, takesCode } from './second-factor.ts';
