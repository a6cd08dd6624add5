import type { AuthenticationSession } from '../../model/index.ts';

/** The progress of a login. A login moves down this list, and returns to the first stage only when it restarts. */
export type LoginStage =
  | {
      at: 'password';
      /** Id of the user session whose user has to log in again. */
      renews?: string;
    }
  | { at: 'second-factor'; userId: string; passwordId: string; renews?: string }
  | {
      at: 'proved';
      userId: string;
      /** Unix time in seconds. */
      authenticatedAt: number;
      by: { sessionId: string } | { passwordId: string };
    };

/**
 * Reads the stage of a stored login. The row has no column for it: `userId` and `authenticatedAt` are set once the user
 * is authenticated, and all other data is in the notes. When the store limits the number of unauthenticated logins, it
 * reads the note `passwordUser`.
 */
export function stageOf({ userId, authenticatedAt, notes }: AuthenticationSession): LoginStage {
  const { passwordUser, password: passwordId, sso: sessionId, again: renews } = notes;
  if (userId !== undefined && authenticatedAt !== undefined) {
    if (sessionId !== undefined) return { at: 'proved', userId, authenticatedAt, by: { sessionId } };
    if (passwordId !== undefined) return { at: 'proved', userId, authenticatedAt, by: { passwordId } };
  }
  const renewal = renews === undefined ? {} : { renews };
  if (passwordUser !== undefined && passwordId !== undefined)
    return { at: 'second-factor', userId: passwordUser, passwordId, ...renewal };
  return { at: 'password', ...renewal };
}

/** Returns the login with another stage. Notes that belong to no stage, such as the language, remain. */
export function withStage(row: AuthenticationSession, stage: LoginStage): AuthenticationSession {
  const { userId: _userId, authenticatedAt: _authenticatedAt, ...rest } = row;
  const { passwordUser: _passwordUser, password: _password, sso: _sso, again: _again, ...notes } = row.notes;
  if (stage.at === 'proved') {
    const { userId, authenticatedAt, by } = stage;
    const proof = 'sessionId' in by ? { sso: by.sessionId } : { password: by.passwordId };
    return { ...rest, userId, authenticatedAt, notes: { ...notes, ...proof } };
  }
  const renewal = stage.renews === undefined ? {} : { again: stage.renews };
  if (stage.at === 'password') return { ...rest, notes: { ...notes, ...renewal } };
  const { userId: passwordUser, passwordId: password } = stage;
  return { ...rest, notes: { ...notes, ...renewal, passwordUser, password } };
}

/** The facts that decide the next step, for each stage of the login. */
export type StageFacts =
  | {
      at: 'password' | 'second-factor';
      /** Whether the request has `prompt=none`, which forbids any page. */
      passive: boolean;
    }
  | ProvedFacts;

/** The facts of a login whose user is authenticated. */
export interface ProvedFacts {
  at: 'proved';
  passive: boolean;
  /** Whether the `id_token_hint` names another user. */
  otherThanHinted: boolean;
  /** Required actions, in the order in which the user does them. */
  pendingActions: readonly string[];
  /** Whether the client needs a consent that the user has not given. */
  consentDue: boolean;
}

/** The next step of a login: a page, an error for the client, or the end. */
export type NextStep =
  | { step: 'form'; of: 'password' | 'second-factor' }
  | { step: 'action'; action: string }
  | { step: 'consent' }
  | { step: 'refuse'; error: 'login_required' | 'interaction_required' }
  | { step: 'finish' };

/** The next step of a login whose user is authenticated. */
export type ProvedStep = Exclude<NextStep, { step: 'form' }>;

/** Decides the next step of a login. No other function decides it (OpenID Connect Core §3.1.2.3, §3.1.2.4). */
export function decideNextStep(facts: ProvedFacts): ProvedStep;
export function decideNextStep(facts: StageFacts): NextStep;
export function decideNextStep(facts: StageFacts): NextStep {
  if (facts.at !== 'proved')
    return facts.passive ? { step: 'refuse', error: 'login_required' } : { step: 'form', of: facts.at };
  const { passive, otherThanHinted, pendingActions, consentDue } = facts;
  if (otherThanHinted) return { step: 'refuse', error: 'login_required' };
  const [action] = pendingActions;
  if (passive && (action !== undefined || consentDue))
    return { step: 'refuse', error: 'interaction_required' };
  if (action !== undefined) return { step: 'action', action };
  return consentDue ? { step: 'consent' } : { step: 'finish' };
}

/**
 * Whether the user of an existing login must log in again: for `prompt=login`, for `prompt=select_account`, or after
 * `max_age`. If `max_age` is 0, the user always must (OpenID Connect Core §3.1.2.1).
 *
 * @param times Unix times in seconds. `begunAt` is the time of the request. A later login counts for this request, even
 *   if it was in another tab.
 */
export function mustLoginAgain(
  request: { prompt: readonly string[]; maxAge?: number },
  login: { authenticatedAt: number },
  { now, begunAt }: { now: number; begunAt?: number },
): boolean {
  if (begunAt !== undefined && login.authenticatedAt > begunAt) return false;
  if (request.prompt.includes('login') || request.prompt.includes('select_account')) return true;
  const { maxAge } = request;
  return maxAge !== undefined && (maxAge === 0 || login.authenticatedAt + maxAge < now);
}
