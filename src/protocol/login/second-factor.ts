import { checkOtp, type OtpCredential, readOtpCredential } from '../../crypto/index.ts';
import type { Credential } from '../../model/index.ts';
import type { LoginAttempt } from './attempt.ts';

/** Types that are no second factor of a login by password. */
const FIRST_FACTORS: ReadonlySet<string> = new Set(['password', 'password-history', 'webauthn-passwordless']);
/** Seconds that a used counter of an HOTP credential stays claimed, beyond any window of its own. */
const COUNTER_CLAIM = 10 * 365 * 86_400;

/** A device of the user whose code was typed; `step` is the period or counter that the code belongs to. */
export interface CodeMatch {
  stored: Credential;
  device: OtpCredential;
  step: number;
}

/** The second factors that a user has stored; whoever has one is asked for it (contract §5: "never skipped"). */
export function listSecondFactors(credentials: readonly Credential[]): readonly Credential[] {
  return credentials.filter((credential) => !FIRST_FACTORS.has(credential.type));
}

/**
 * The devices that a code fits; nothing is used up by it. The work is the same whether the password beside the code is
 * right or not.
 */
export function matchCode(
  { ctx, configuration }: Pick<LoginAttempt, 'ctx' | 'configuration'>,
  factors: readonly Credential[],
  code: string,
): readonly CodeMatch[] {
  const { otpPolicyLookAheadWindow: lookAhead } = configuration.realm.settings;
  const matches: CodeMatch[] = [];
  if (code === '') return matches;
  for (const stored of factors) {
    const device = stored.type === 'otp' ? readOtpCredential(stored) : undefined;
    if (device === undefined) continue;
    const verdict = checkOtp({ credential: device, code, lookAhead, now: ctx.clock.now() });
    if (verdict.outcome === 'match') matches.push({ stored, device, step: verdict.step });
  }
  return matches;
}

/** Uses a code up: true for one that was not used before (facts §3.6). */
export async function spendCode(
  attempt: Pick<LoginAttempt, 'ctx' | 'configuration'>,
  matches: readonly CodeMatch[],
): Promise<boolean> {
  for (const match of matches) if (await claim(attempt, match)) return true;
  return false;
}

/** Why a code was refused where the user has no device for codes; for the event. */
export function describeRefusedCode(factors: readonly Credential[]): string | undefined {
  if (factors.some(({ type }) => type === 'otp')) return undefined;
  const kind = factors[0]?.type;
  return kind === undefined ? undefined : `second factor of type ${kind} cannot be asked for here`;
}

async function claim(
  { ctx, configuration }: Pick<LoginAttempt, 'ctx' | 'configuration'>,
  { stored, device, step }: CodeMatch,
): Promise<boolean> {
  const { otpPolicyLookAheadWindow, otpPolicyCodeReusable } = configuration.realm.settings;
  if (device.type === 'totp') {
    if (otpPolicyCodeReusable) return true;
    const end = (step + otpPolicyLookAheadWindow + 2) * device.period;
    return ctx.store.claimOnce(`otp:${stored.id}:${step}`, end);
  }
  const end = Math.floor(ctx.clock.now() / 1000) + COUNTER_CLAIM;
  if (!(await ctx.store.claimOnce(`otp:${stored.id}:${step}`, end))) return false;
  const credentialData = JSON.stringify({ ...JSON.parse(stored.credentialData), counter: step + 1 });
  const applied = await ctx.store.apply([{ do: 'put', credential: { ...stored, credentialData } }]);
  return applied.outcome === 'applied';
}
