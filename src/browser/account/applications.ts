import { type Client, type Consent, isSessionAlive } from '../../model/index.ts';
import { resolveRootUrl } from '../../protocol/client/index.ts';
import { accountEndpoint } from './account-endpoint.ts';
import type { AccountCall, AccountRules } from './account-page.ts';
import {
  accountFrame,
  answerDenied,
  answerDone,
  clientName,
  findClients,
  showAccountPage,
  startAccountEvent,
} from './account-page.ts';
import type { AccountApplication } from './pages.ts';

const rules: AccountRules = {
  name: 'applications',
  may: (rights) => rights.seeApplications,

  async show(account, options) {
    const applications = await listApplications(account);
    const mayRemove = account.rights.removeConsents;
    return showAccountPage(
      account,
      { page: 'account-applications', account: accountFrame(account), applications, mayRemove },
      options,
    );
  },

  async submit(account) {
    const { ctx, configuration, request, sso, rights } = account;
    if (!rights.removeConsents) return answerDenied(account);
    const event = startAccountEvent(account, 'REVOKE_GRANT');
    const client = await ctx.store.findClientByUuid(configuration.realm.id, request.form.get('client') ?? '');
    if (client === undefined) {
      event.failed('client_not_found');
      return rules.show(account, {
        name: 'account-form-outdated',
        message: { kind: 'error', key: 'accountFormOutdatedMessage' },
      });
    }
    event.details['revoked_client'] = client.clientId;
    const notify = await prepareWithdrawal(account, client);
    const { removed } = await ctx.store.removeConsent(sso.user.id, client.id);
    if (removed) event.succeeded();
    await notify?.();
    return answerDone(account, 'accountAccessRemovedMessage');
  },
};

/**
 * The page `/account/applications`. It lists the applications that have access to the user's account or that the user
 * has consented to, and can remove an application's access.
 */
export const accountApplications = accountEndpoint(rules);

/**
 * Prepares the logout notification for a client from which the user withdraws consent. As in Keycloak, the withdrawal
 * ends the user's client sessions of that client. Returns undefined if there is no consent.
 */
async function prepareWithdrawal({ ctx, configuration, sso }: AccountCall, client: Client) {
  const userId = sso.user.id;
  if ((await ctx.store.findConsent(userId, client.id)) === undefined) return undefined;
  return ctx.sessionEndings?.prepare(configuration.realm.id, { userId, clientUuid: client.id });
}

async function listApplications(account: AccountCall): Promise<readonly AccountApplication[]> {
  const { ctx, sso } = account;
  const [online, offline, consents] = await Promise.all([
    usedClients(account, false),
    usedClients(account, true),
    ctx.store.listConsents(sso.user.id),
  ]);
  const agreed = new Map(consents.map((consent) => [consent.clientUuid, consent]));
  const clients = await findClients(account, new Set([...online, ...offline, ...agreed.keys()]));
  return [...clients.values()]
    .map((client) =>
      renderApplication(account, client, {
        inUse: online.has(client.id),
        offline: offline.has(client.id),
        consent: agreed.get(client.id),
      }),
    )
    .sort((one, other) => one.name.localeCompare(other.name) || (one.id < other.id ? -1 : 1));
}

/** Returns the UUIDs of the clients that have tokens of a live session, online or offline. */
async function usedClients(
  { ctx, configuration, now, sso }: AccountCall,
  offline: boolean,
): Promise<ReadonlySet<string>> {
  const used = new Set<string>();
  const query = { userId: sso.user.id, offline, caller: 'user' } as const;
  for await (const sessions of ctx.store.userSessionPages(query))
    for (const { session, clientUuids } of sessions)
      if (isSessionAlive(configuration.realm.settings, session, now))
        for (const uuid of clientUuids) used.add(uuid);
  return used;
}

function renderApplication(
  { ctx, configuration }: AccountCall,
  client: Client,
  use: { inUse: boolean; offline: boolean; consent: Consent | undefined },
): AccountApplication {
  const { inUse, offline, consent } = use;
  const url = firstPage(client, ctx.baseUrl);
  return {
    id: client.id,
    name: clientName(client),
    ...(client.description ? { description: client.description } : {}),
    ...(url === undefined ? {} : { url }),
    inUse,
    offline,
    removable: offline || consent !== undefined,
    ...(consent === undefined
      ? {}
      : {
          consent: {
            givenAt: consent.createdDate,
            scopes: consent.scopeIds.flatMap((id) => {
              const scope = configuration.clientScopes.get(id);
              return scope === undefined ? [] : [scope.attributes['consent.screen.text'] || scope.name];
            }),
          },
        }),
  };
}

function firstPage(client: Client, baseUrl: string): string | undefined {
  const url = client.baseUrl || client.rootUrl;
  if (!url) return undefined;
  const root = resolveRootUrl(client, baseUrl);
  if (url === client.rootUrl) return root;
  return url.startsWith('/') ? `${root.replace(/\/$/, '')}${url}` : url;
}
