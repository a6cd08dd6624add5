import type { RealmConfiguration } from '../store/index.ts';
import type { ProtocolContext } from './context.ts';
import { issuerOf } from './realm-gate.ts';

/** What `GET /realms/{realm}` tells everyone (facts §1). */
export interface RealmInfo {
  realm: string;
  /** DER SubjectPublicKeyInfo in base64 of the key that signs with the realm's algorithm. */
  public_key?: string;
  'token-service': string;
  'account-service': string;
  'tokens-not-before': number;
}

/** The public description of a realm. */
export function realmInfo(ctx: ProtocolContext, configuration: RealmConfiguration): RealmInfo {
  const { name, settings } = configuration.realm;
  const issuer = issuerOf(ctx, configuration);
  const active = ctx.keys.list(configuration).filter((key) => key.status === 'ACTIVE' && key.use === 'SIG');
  const publicKey =
    active.find((key) => key.algorithm === settings.defaultSignatureAlgorithm)?.publicKey ??
    active.find((key) => key.publicKey !== undefined)?.publicKey;
  return {
    realm: name,
    ...(publicKey === undefined ? {} : { public_key: publicKey }),
    'token-service': `${issuer}/protocol/openid-connect`,
    'account-service': `${issuer}/account`,
    'tokens-not-before': settings.notBefore,
  };
}
