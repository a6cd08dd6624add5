import { parseJwt } from './jwt.ts';
import { Refusal } from './refusal.ts';

/**
 * Refuses a `DPoP` header: idkit does not bind tokens, and a client that sends a proof wants no Bearer token (RFC 9449
 * §5). A header that is not a proof at all gets the answer of Keycloak 26.7.3.
 *
 * @throws Refusal `dpop-refused`
 */
export function checkNoDpop(header: string | undefined): void {
  if (header === undefined) return;
  const proof = parseJwt(header);
  if (proof === undefined || proof.header['typ'] !== 'dpop+jwt') throw new Refusal('dpop-refused');
  throw new Refusal('dpop-refused', {
    description: 'DPoP is not supported: send the request without a DPoP header',
  });
}
