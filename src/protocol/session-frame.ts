import type { ProtocolContext } from './context.ts';
import { isAllowedOrigin } from './cors.ts';
import { getRealm } from './realm-gate.ts';

/**
 * Whether a page of an origin may ask the session iframe about the login of a client's users (Session Management
 * 1.0 §3.2): where the client is on and its `webOrigins` name the origin, or it is this service's own.
 *
 * @throws Refusal `realm-not-found`
 */
export async function checkSessionFrame(
  ctx: ProtocolContext,
  asked: { realm: string; clientId: string; origin: string },
): Promise<'allowed' | 'refused'> {
  const { realm } = await getRealm(ctx, asked.realm);
  const client = await ctx.store.findClient(realm.id, asked.clientId);
  if (!realm.settings.enabled || client === undefined || !client.enabled) return 'refused';
  const own = new URL(ctx.baseUrl).origin === asked.origin;
  return own || isAllowedOrigin(ctx, client, asked.origin) ? 'allowed' : 'refused';
}
