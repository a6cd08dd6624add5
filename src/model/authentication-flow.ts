import { jsonFields } from '../core/index.ts';
import type { RealmSettings } from './realm.ts';

/** The fields of a realm's authentication flow that idkit reads. */
export interface Flow {
  id?: string;
  alias: string;
  builtIn: boolean;
  /** Index in `authenticationFlows`. */
  index: number;
  executions: readonly Execution[];
}

interface Execution {
  authenticator?: string;
  flowAlias?: string;
  requirement: string;
}

/**
 * Authenticators that idkit accepts in a flow. Most of them are checks that it performs in every login, even if the
 * flow does not require them.
 */
const ENFORCED: ReadonlySet<string> = new Set([
  'direct-grant-validate-username',
  'direct-grant-validate-password',
  'auth-username-password-form',
  'auth-username-form',
  'auth-password-form',
  // The following steps are additional ways to log in. A flow without them is not weaker.
  'auth-cookie',
  'auth-spnego',
  'identity-provider-redirector',
  'organization',
]);

/**
 * Authenticators of the second factor. A user who has set up a second factor must use it in every login. Other users
 * are not forced to set up one.
 */
const SECOND_FACTOR: ReadonlySet<string> = new Set(['direct-grant-validate-otp', 'auth-otp-form']);

/** Conditions that only mean "if the user has a second factor". */
const CONDITIONS: ReadonlySet<string> = new Set(['conditional-user-configured', 'conditional-credential']);

/** Reads `authenticationFlows`. Skips malformed entries. */
export function readFlows(representation: unknown): readonly Flow[] {
  if (!Array.isArray(representation)) return [];
  return representation.flatMap((entry: unknown, index): Flow[] => {
    const fields = jsonFields(entry);
    if (typeof fields.alias !== 'string') return [];
    const flow: Flow = {
      alias: fields.alias,
      builtIn: fields.builtIn === true,
      index,
      executions: readExecutions(fields.authenticationExecutions),
    };
    return [typeof fields.id === 'string' ? { ...flow, id: fields.id } : flow];
  });
}

/**
 * Lists the steps of a flow that idkit does not run: unknown authenticators that are enabled, other conditions, and a
 * second factor for users who have none. Also reports missing and empty flows.
 */
export function listUnknownSteps(flow: Flow, flows: readonly Flow[]): readonly string[] {
  return stepsOf(flow, flows, 'always', new Set());
}

function stepsOf(
  flow: Flow,
  flows: readonly Flow[],
  runs: 'always' | 'on condition',
  above: ReadonlySet<string>,
): readonly string[] {
  const active = flow.executions.filter((execution) => execution.requirement !== 'DISABLED');
  if (active.length === 0) return above.size === 0 ? [`empty flow ${flow.alias}`] : [];
  const onlyConfigured =
    runs === 'on condition' &&
    active.some(
      (one) => one.authenticator === 'conditional-user-configured' && one.requirement === 'REQUIRED',
    );
  return active.flatMap((execution) => {
    const { authenticator, flowAlias, requirement } = execution;
    if (authenticator === undefined) {
      const below = flows.find((one) => one.alias === flowAlias);
      if (below === undefined || above.has(below.alias)) return [`flow ${flowAlias ?? '?'}`];
      const next = requirement === 'CONDITIONAL' ? 'on condition' : 'always';
      return stepsOf(below, flows, next, new Set([...above, flow.alias]));
    }
    if (ENFORCED.has(authenticator)) return [];
    if (CONDITIONS.has(authenticator) && onlyConfigured) return [];
    if (SECOND_FACTOR.has(authenticator) && onlyConfigured) return [];
    return [`${authenticator} ${requirement}`];
  });
}

function readExecutions(value: unknown): readonly Execution[] {
  if (!Array.isArray(value)) return [];
  return value.map((entry: unknown) => {
    const { authenticator, flowAlias, requirement } = jsonFields(entry);
    return {
      requirement: typeof requirement === 'string' ? requirement : 'DISABLED',
      ...(typeof flowAlias === 'string' ? { flowAlias } : {}),
      ...(typeof authenticator === 'string' && typeof flowAlias !== 'string' ? { authenticator } : {}),
    };
  });
}

/**
 * The client authenticators of Keycloak 26. idkit rejects a client whose authenticator it does not support, and states
 * why.
 */
const AUTHENTICATORS: ReadonlySet<string> = new Set([
  'client-secret',
  'client-secret-jwt',
  'client-jwt',
  'client-x509',
  'federated-jwt',
]);

/** The name of the client authentication flow that a realm uses by default. */
const USUAL = 'clients';

/**
 * How the clients of a realm can authenticate. `runs`: with these authenticators, or with any authenticator if
 * `authenticators` is undefined. `unknown`: idkit does not run the flow, because of the step in `what`.
 */
export type ClientFlow =
  | { outcome: 'runs'; authenticators: ReadonlySet<string> | undefined }
  | { outcome: 'unknown'; path: string; what: string };

/**
 * Reads the realm's `clientAuthenticationFlow` as Keycloak 26 does: if a step is required, only the first required one
 * runs, otherwise every alternative (`ClientAuthenticationFlow#findExecutionsToRun`). A client cannot authenticate with
 * an unknown alternative.
 */
export function readClientFlow({ kept }: RealmSettings): ClientFlow {
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
    return {
      outcome: 'runs',
      authenticators: new Set(steps.flatMap(({ authenticator }) => authenticator ?? [])),
    };
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
