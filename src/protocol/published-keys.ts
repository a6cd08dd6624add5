import type { RealmConfiguration } from '../store/index.ts';
import type { ProtocolContext } from './context.ts';

/** The realm's published key set (RFC 7517; facts §5.6). */
export function publishedKeys(
  ctx: ProtocolContext,
  configuration: RealmConfiguration,
): { keys: readonly Readonly<Record<string, unknown>>[] } {
  return ctx.keys.publish(configuration);
}
