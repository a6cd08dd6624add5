import { createHash } from 'node:crypto';
import type { KeyMaterial } from '../../crypto/index.ts';

/**
 * A key as it is published (RFC 7517 §4), in Keycloak's field order (facts §5.6): `kid, kty, alg, use`, then the
 * certificate with its two thumbprints, then the key's own members.
 */
export function publicJwk(material: KeyMaterial): Readonly<Record<string, unknown>> {
  const jwk: Record<string, unknown> = {
    kid: material.kid,
    kty: material.type,
    alg: material.algorithm,
    use: material.use === 'SIG' ? 'sig' : 'enc',
  };
  if (material.certificate !== undefined) {
    const der = Buffer.from(material.certificate, 'base64');
    jwk.x5c = [material.certificate];
    jwk.x5t = createHash('sha1').update(der).digest('base64url');
    jwk['x5t#S256'] = createHash('sha256').update(der).digest('base64url');
  }
  const { n, e, crv, x, y } = material.publicKey?.export({ format: 'jwk' }) ?? {};
  for (const [name, value] of Object.entries({ n, e, crv, x, y })) {
    if (value !== undefined) jwk[name] = value;
  }
  return Object.freeze(jwk);
}
