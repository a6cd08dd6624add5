import type { Revised } from './revised.ts';
import type { Secrets } from './secrets.ts';

/** A component of a realm (ComponentRepresentation); key providers are components (facts §7.2, §10). */
export interface Component extends Revised {
  id: string;
  realmId: string;
  name: string;
  providerId: string;
  /** For example `org.keycloak.keys.KeyProvider`. */
  providerType: string;
  parentId: string;
  subType?: string;
  config: Readonly<Record<string, readonly string[]>>;
  /** `/config/privateKey/0`, `/config/secret/0`, `/config/bindCredential/0` … */
  secrets: Secrets;
}
