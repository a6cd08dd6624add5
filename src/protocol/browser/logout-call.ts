import { seconds } from '../../core/index.ts';
import type { ProtocolContext } from '../context.ts';
import { checkTransport, getRealm, issuerOf } from '../realm-gate.ts';
import { Refusal } from '../refusal.ts';
import type { BrowserCall } from './call.ts';
import type { BrowserAnswer, BrowserRequest } from './contract.ts';
import { errorPage } from './page-frame.ts';

/**
 * What the logout begins with: the realm and the transport. A disabled realm is no reason to stay logged in (facts
 * §18).
 *
 * @throws Refusal `realm-not-found`
 */
export async function withLogoutCall(
  ctx: ProtocolContext,
  request: BrowserRequest,
  work: (call: BrowserCall) => Promise<BrowserAnswer>,
): Promise<BrowserAnswer> {
  const configuration = await getRealm(ctx, request.realm);
  try {
    checkTransport(configuration, request);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return errorPage(configuration, request, 'httpsRequiredMessage', { status: 403 });
  }
  for (const [name, value] of [...request.query, ...request.form])
    if (name.includes('\0') || value.includes('\0'))
      return errorPage(configuration, request, 'invalidRequestMessage');
  return work({ ctx, configuration, request, now: seconds(ctx.clock), issuer: issuerOf(ctx, configuration) });
}
