import type { Client, Component, RealmSettings } from '../model/index.ts';
import { ensureAlgorithmKey, type NewKeyComponent } from './new-realm-keys.ts';

/** Client attributes that name the signature algorithm of a token. */
const CLIENT_ATTRIBUTES = [
  'access.token.signed.response.alg',
  'id.token.signed.response.alg',
  'user.info.response.signature.alg',
] as const;

/** The algorithm of refresh tokens, which the realm's secret key signs (docs/keycloak/tokens.md#refresh-token). */
const REFRESH_TOKEN_ALGORITHM = 'HS512';

/** Returns the signature algorithms that a realm and these clients use, without duplicates. */
function listNamedAlgorithms(
  settings: Pick<RealmSettings, 'defaultSignatureAlgorithm'>,
  clients: readonly Pick<Client, 'attributes'>[],
): readonly string[] {
  const named = clients.flatMap(({ attributes }) => CLIENT_ATTRIBUTES.map((name) => attributes[name] ?? ''));
  const all = new Set([settings.defaultSignatureAlgorithm, REFRESH_TOKEN_ALGORITHM, ...named]);
  all.delete('');
  return [...all];
}

/**
 * Generates the missing keys for the algorithms that a realm and these clients name. The caller stores them in the same
 * change, so that each key is published before the change is confirmed.
 */
export async function ensureNamedKeys(
  context: Pick<NewKeyComponent, 'realm' | 'clock' | 'random'> & {
    components: readonly Component[];
    settings: Pick<RealmSettings, 'defaultSignatureAlgorithm'>;
    clients: readonly Pick<Client, 'attributes'>[];
  },
): Promise<readonly Component[]> {
  const { settings, clients, ...rest } = context;
  const made = await Promise.all(
    listNamedAlgorithms(settings, clients).map((algorithm) => ensureAlgorithmKey({ ...rest, algorithm })),
  );
  return made.filter((component) => component !== undefined);
}
