import { checkOtp, readOtpCredential } from '../crypto/index.ts';
import type { Credential } from '../model/index.ts';
import type { LoginAttempt } from './login-attempt.ts';

/** Types that are no second factor of a login by password. */
const FIRST_FACTORS: ReadonlySet<string> = new Set(['password', 'password-history', 'webauthn-passwordless']);
/** Seconds that a used counter of an HOTP credential stays claimed, beyond any window of its own. */
const COUNTER_CLAIM = 10 * 365 * 86_400;

/** `detail` is for the event. */
export type SecondFactorOutcome = { outcome: 'proved' } | { outcome: 'refused'; detail?: string };

/** The second factors that a user has stored; whoever has one is asked for it (contract §5: "never skipped"). */
export function listSecondFactors(credentials: readonly Credential[]): readonly Credential[] {
  return credentials.filter((credential) => !FIRST_FACTORS.has(credential.type));
}

/**
 * Proves the second factor where the user has one stored (facts §3.6): the code fits one of the user's
 * one-time-password credentials and was not used before. Another kind of second factor cannot be given in a form, so
 * its owner is refused.
 */
export async function proveSecondFactor(
  attempt: Pick<LoginAttempt, 'ctx' | 'configuration'>,
  credentials: readonly Credential[],
  code: string,
): Promise<SecondFactorOutcome> {
  const factors = listSecondFactors(credentials);
  if (factors.length === 0) return { outcome: 'proved' };
  const passwords = factors.filter((credential) => credential.type === 'otp');
  if (passwords.length === 0)
    return {
      outcome: 'refused',
      detail: `second factor of type ${factors[0]!.type} cannot be asked for here`,
    };
  for (const credential of passwords)
    if (code !== '' && (await proveOtp(attempt, credential, code)) === 'proved') return { outcome: 'proved' };
  return { outcome: 'refused' };
}

async function proveOtp(
  { ctx, configuration }: Pick<LoginAttempt, 'ctx' | 'configuration'>,
  stored: Credential,
  code: string,
): Promise<'proved' | 'refused'> {
  const credential = readOtpCredential(stored);
  if (credential === undefined) return 'refused';
  const { otpPolicyLookAheadWindow, otpPolicyCodeReusable } = configuration.realm.settings;
  const now = ctx.clock.now();
  const verdict = checkOtp({ credential, code, lookAhead: otpPolicyLookAheadWindow, now });
  if (verdict.outcome !== 'match') return 'refused';
  const { step } = verdict;
  if (credential.type === 'totp') {
    if (otpPolicyCodeReusable) return 'proved';
    const end = (step + otpPolicyLookAheadWindow + 2) * credential.period;
    return (await ctx.store.claimOnce(`otp:${stored.id}:${step}`, end)) ? 'proved' : 'refused';
  }
  const end = Math.floor(now / 1000) + COUNTER_CLAIM;
  if (!(await ctx.store.claimOnce(`otp:${stored.id}:${step}`, end))) return 'refused';
  const credentialData = JSON.stringify({ ...JSON.parse(stored.credentialData), counter: step + 1 });
  const applied = await ctx.store.apply([{ do: 'put', credential: { ...stored, credentialData } }]);
  return applied.outcome === 'applied' ? 'proved' : 'refused';
}
