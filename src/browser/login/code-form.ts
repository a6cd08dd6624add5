import type { AuthenticationSession, Client, Credential, User } from '../../model/index.ts';
import { describeUnsupported, listSecondFactors, proveCode, takesCode } from '../../protocol/login/index.ts';
import { type BrowserCall, loginErrorPage, startLoginEvent } from '../call.ts';
import type { BrowserAnswer } from '../contract.ts';
import { waysToRestart } from './client-data.ts';
import { continueProved, refuseForm, startAttempt } from './form-attempt.ts';
import { otpPage, type ShownLogin } from './login-page.ts';
import { moveStep, storeStep } from './login-row.ts';
import { accountChangedPage, answerGone } from './open-login.ts';
import { type LoginStage, stageOf, withStage } from './stage.ts';

/** Shows the form for the code of the second factor, under a new tab id, after the password was verified. */
export async function askForCode(
  call: BrowserCall,
  login: ShownLogin,
  user: User,
  password: Credential,
  factors: readonly Credential[],
): Promise<BrowserAnswer> {
  const devices = factors.filter(takesCode);
  const [unsupported] = factors;
  if (devices.length === 0 && unsupported !== undefined) {
    const event = startLoginEvent(call, login.client);
    event.userId = user.id;
    event.details['reason'] = describeUnsupported(unsupported);
    event.failed('not_allowed');
    return loginErrorPage(call, login.client, 'secondFactorUnsupportedMessage', {
      detail: unsupported.type,
      ways: waysToRestart(call, login.client, 'other-user'),
    });
  }
  const before = stageOf(login.row);
  const stage: LoginStage = {
    at: 'second-factor',
    userId: user.id,
    passwordId: password.id,
    ...(before.at === 'password' && before.renews !== undefined ? { renews: before.renews } : {}),
  };
  const row = await moveStep(call, withStage(login.row, stage), 'login');
  return row === undefined ? answerGone(call, login.client) : otpPage(call, { ...login, row }, devices);
}

/** Shows the form of the second factor again. */
export async function showCodeForm(
  call: BrowserCall,
  client: Client,
  row: AuthenticationSession,
): Promise<BrowserAnswer> {
  const found = await findHalfProven(call, row);
  if (found === undefined) return accountChangedPage(call, client);
  return otpPage(call, { client, row }, found.devices);
}

/**
 * Checks the code of the form. A wrong code counts like a wrong password, and the page reports it
 * (docs/keycloak/login.md#one-time-passwords).
 */
export async function submitCode(
  call: BrowserCall,
  client: Client,
  row: AuthenticationSession,
): Promise<BrowserAnswer> {
  const { form } = call.request;
  const found = await findHalfProven(call, row);
  if (found === undefined) return accountChangedPage(call, client);
  const { user, password, devices } = found;
  const credentialId = form.get('selectedCredentialId') || undefined;
  const login: ShownLogin = {
    client,
    row: credentialId === undefined ? row : { ...row, notes: { ...row.notes, device: credentialId } },
  };
  const attempt = startAttempt(call, login);
  attempt.event.userId = user.id;
  attempt.event.details['username'] = user.username;
  try {
    const code = form.get('otp') ?? '';
    const proved = await proveCode(attempt, user, { passwordId: password.id, code, credentialId });
    return await continueProved(call, login, proved, password);
  } catch (error) {
    return refuseForm(error, attempt, async (key) => {
      const stored = await storeStep(call, login.row, 'login');
      if (stored === undefined) return answerGone(call, client);
      const shown = key === 'invalidUserMessage' ? 'invalidTotpMessage' : key;
      return otpPage(call, { client, row: stored }, devices, { message: { kind: 'error', key: shown } });
    });
  }
}

/** Returns the user whose password was verified in the previous step, if that password is still current. */
async function findHalfProven(call: BrowserCall, row: AuthenticationSession) {
  const { store } = call.ctx;
  const stage = stageOf(row);
  if (stage.at !== 'second-factor') return undefined;
  const { userId, passwordId } = stage;
  const [user, credentials] = await Promise.all([
    store.findUser(call.configuration.realm.id, userId),
    store.listCredentials(userId),
  ]);
  const password = credentials.find((one) => one.id === passwordId && one.type === 'password');
  if (user === undefined || password === undefined) return undefined;
  const devices = listSecondFactors(credentials).filter(takesCode);
  return { user, password, devices };
}
