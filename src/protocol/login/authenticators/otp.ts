import { checkOtp, type OtpCredential, readOtpCredential } from '../../../crypto/index.ts';
import type { Credential } from '../../../model/index.ts';
import type { Authenticator, AuthenticatorContext } from './authenticator.ts';

/** How long a used HOTP counter is remembered, in seconds. No credential is in use for that long. */
const COUNTER_CLAIM = 10 * 365 * 86_400;

/** One-time passwords by time or by counter (RFC 6238, RFC 4226). */
export const otp: Authenticator = {
  match(context, stored, code) {
    const device = readOtpCredential(stored);
    if (device === undefined) return undefined;
    const { otpPolicyLookAheadWindow: lookAhead } = context.configuration.realm.settings;
    const verdict = checkOtp({ credential: device, code, lookAhead, now: context.ctx.clock.now() });
    if (verdict.outcome === 'mismatch') return undefined;
    return { spend: () => spend(context, stored, device, verdict.step) };
  },
};

/** @param step the time period or the counter for which the code is valid */
async function spend(
  { ctx, configuration }: AuthenticatorContext,
  stored: Credential,
  device: OtpCredential,
  step: number,
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
