import type { Client } from '../model/index.ts';
import { resolveWebOrigins } from './claims/index.ts';
import type { ProtocolContext } from './context.ts';
import { Refusal } from './refusal.ts';

/**
 * The origin that may read the answer: the one of the request where the client's `webOrigins` name it.
 *
 * @throws Refusal `invalid-origin` for any other, before the endpoint does anything (facts §1, [26.6.3])
 */
export function checkOrigin(
  ctx: Pick<ProtocolContext, 'baseUrl'>,
  client: Client,
  origin: string | undefined,
): string | undefined {
  if (origin === undefined || isAllowedOrigin(ctx, client, origin)) return origin;
  throw new Refusal('invalid-origin', { detail: `origin is none of client ${client.clientId}` });
}

/** Whether pages of an origin may read what is answered to a client (facts §1). */
export function isAllowedOrigin(
  ctx: Pick<ProtocolContext, 'baseUrl'>,
  client: Client,
  origin: string,
): boolean {
  const allowed = resolveWebOrigins(client, ctx.baseUrl);
  return allowed.includes('*') || (origin !== 'null' && allowed.includes(origin));
}
