import type { Credential, User } from '../../model/index.ts';
import { Refusal } from '../../protocol/index.ts';
import { type LoginAttempt, onBehalfOf } from '../../protocol/login/index.ts';
import { type BrowserCall, startLoginEvent } from '../call.ts';
import type { BrowserAnswer } from '../contract.ts';
import type { RuleMessageKey } from '../message-keys.ts';
import { continueLogin } from './continue-login.ts';
import type { ShownLogin } from './login-page.ts';
import { addRequestDetails } from './progress.ts';
import { type LoginStage, stageOf } from './stage.ts';

/** Starts a login attempt for a submitted form, with its event and a password hasher for its caller. */
export function startAttempt(call: BrowserCall, { client, row }: ShownLogin): LoginAttempt {
  const event = startLoginEvent(call, client);
  addRequestDetails(event, row.request);
  event.details['auth_type'] = 'code';
  const { configuration, request } = call;
  const user = row.notes['username'] ?? nameOf(stageOf(row));
  const caller = { realmId: configuration.realm.id, address: request.remoteAddress, user };
  const ctx = onBehalfOf(call.ctx, caller);
  return { ctx, configuration, event, remoteAddress: request.remoteAddress };
}

/** Returns a text that identifies the user on a form without a name field. */
function nameOf(stage: LoginStage): string {
  return stage.at === 'password' ? (stage.renews ?? '') : stage.userId;
}

/** Logs the refusal and shows the form with a message that reveals nothing. @throws any error that is not a refusal */
export async function refuseForm(
  error: unknown,
  attempt: LoginAttempt,
  show: (key: RuleMessageKey) => Promise<BrowserAnswer>,
): Promise<BrowserAnswer> {
  if (!(error instanceof Refusal)) throw error;
  if (error.case !== 'user-credentials-wrong' && error.case !== 'account-disabled') throw error;
  attempt.event.refused(error);
  return show(error.case === 'account-disabled' ? 'accountDisabledMessage' : 'invalidUserMessage');
}

/** Continues a login after the password, and the second factor if the user has one, have been verified. */
export function continueProved(
  call: BrowserCall,
  { client, row }: ShownLogin,
  user: User,
  password: Credential,
): Promise<BrowserAnswer> {
  const proof = { by: 'password', password, authenticatedAt: call.now } as const;
  return continueLogin(call, { client, request: row.request, row, user, proof });
}
