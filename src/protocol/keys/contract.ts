import type { JwsKey, SignatureAlgorithm } from '../../crypto/index.ts';
import type { RealmConfiguration } from '../../store/index.ts';

/** A key of a realm with what publishing it needs (facts §5.6, `GET …/keys`). */
export interface RealmKey {
  /** The component that provides it. */
  providerId: string;
  priority: number;
  kid: string;
  status: 'ACTIVE' | 'PASSIVE' | 'DISABLED';
  /** `RSA`, `EC`, `OKP`, `OCT`. */
  type: string;
  algorithm: string;
  use: 'SIG' | 'ENC';
  /** DER SubjectPublicKeyInfo in base64. */
  publicKey?: string;
  /** DER certificate in base64. */
  certificate?: string;
  /** End of the certificate, milliseconds. */
  validTo?: number;
}

/** The realm's keys, read from its key components and kept prepared until the realm's configuration changes. */
export interface KeyRing {
  /** The active key of highest priority for the algorithm. @throws Refusal where the realm has none */
  signingKey(configuration: RealmConfiguration, algorithm: SignatureAlgorithm): JwsKey;
  /** An active or passive key that may verify, or undefined. */
  verificationKey(configuration: RealmConfiguration, kid: string, algorithm: string): JwsKey | undefined;
  /** Every key, DISABLED ones too, by priority. */
  list(configuration: RealmConfiguration): readonly RealmKey[];
  /** The published key set (RFC 7517), in Keycloak's field order. */
  publish(configuration: RealmConfiguration): { keys: readonly Readonly<Record<string, unknown>>[] };
}
