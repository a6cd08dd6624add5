/** What decides how a login goes on once somebody proved who they are. */
export interface LoginFacts {
  /** `prompt=none`: no page may be shown. */
  passive: boolean;
  /** The user is not the one whom the `id_token_hint` names. */
  otherThanHinted: boolean;
  /** What the user must do first, in order. */
  pendingActions: readonly string[];
  /** The client needs a consent that the user has not given. */
  consentDue: boolean;
}

/** What a login does next. */
export type NextStep =
  | { step: 'refuse'; error: 'login_required' | 'interaction_required' }
  | { step: 'action'; action: string }
  | { step: 'consent' }
  | { step: 'finish' };

/** The one place that says what comes after what (OpenID Connect Core §3.1.2.3, §3.1.2.4; facts §5.10). */
export function decideNextStep(facts: LoginFacts): NextStep {
  const { passive, otherThanHinted, pendingActions, consentDue } = facts;
  if (otherThanHinted) return { step: 'refuse', error: 'login_required' };
  const [action] = pendingActions;
  if (passive && (action !== undefined || consentDue))
    return { step: 'refuse', error: 'interaction_required' };
  if (action !== undefined) return { step: 'action', action };
  return consentDue ? { step: 'consent' } : { step: 'finish' };
}

/**
 * Whether a login that the browser already has is too old for a request: `prompt=login`, `prompt=select_account`, or
 * `max_age` (of which 0 means always, OpenID Connect Core §3.1.2.1).
 *
 * @param begunAt second of the request; whoever proved themselves since, in another tab, did so for it too
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
