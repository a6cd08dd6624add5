import { readFlows } from './flow-check.ts';
import type { RealmSettings } from './realm.ts';

/** The client authenticators of Keycloak 26. Those that idkit does not build refuse their clients by name. */
const AUTHENTICATORS: ReadonlySet<string> = new Set([
  'client-secret',
  'client-secret-jwt',
  'client-jwt',
  'client-x509',
  'federated-jwt',
]);

/** The flow of every realm that does not name one of its own. */
const USUAL = 'clients';

/**
 * How the clients of a realm may prove themselves. `runs`: by these authenticators; undefined for any.
 * `unknown`: the flow asks for something that idkit does not run.
 */
export type ClientFlow =
  | { outcome: 'runs'; authenticators: ReadonlySet<string> | undefined }
  | { outcome: 'unknown'; path: string; what: string };

const read = new WeakMap<RealmSettings, ClientFlow>();

/**
 * Reads the realm's `clientAuthenticationFlow` as Keycloak 26 runs it: the first required step alone, or else every
 * alternative (`ClientAuthenticationFlow#findExecutionsToRun`). Alternatives that are not known open no way in.
 */
export function readClientFlow(settings: RealmSettings): ClientFlow {
  const known = read.get(settings);
  if (known !== undefined) return known;
  const flow = parseClientFlow(settings);
  read.set(settings, flow);
  return flow;
}

function parseClientFlow({ kept }: RealmSettings): ClientFlow {
  const bound = kept.clientAuthenticationFlow;
  const alias = typeof bound === 'string' && bound !== '' ? bound : USUAL;
  const flow = readFlows(kept.authenticationFlows).find((one) => one.alias === alias);
  if (flow === undefined) {
    if (alias === USUAL) return { outcome: 'runs', authenticators: undefined };
    return {
      outcome: 'unknown',
      path: '$.clientAuthenticationFlow',
      what: `${alias}, which the realm does not have`,
    };
  }
  const active = flow.executions.filter(({ requirement }) => requirement !== 'DISABLED');
  const required = active.find(({ requirement }) => requirement === 'REQUIRED');
  const steps = required === undefined ? active : [required];
  const strange = steps.filter(
    ({ authenticator, requirement }) =>
      authenticator === undefined ||
      (requirement !== 'ALTERNATIVE' && !(requirement === 'REQUIRED' && AUTHENTICATORS.has(authenticator))),
  );
  if (strange.length === 0)
    return { outcome: 'runs', authenticators: new Set(steps.map(({ authenticator }) => authenticator!)) };
  const names = strange.map(
    ({ authenticator, flowAlias, requirement }) =>
      `${authenticator ?? `flow ${flowAlias ?? '?'}`} ${requirement}`,
  );
  return {
    outcome: 'unknown',
    path: `$.authenticationFlows[${flow.index}]`,
    what: `${alias}: ${names.join(', ')}`,
  };
}
