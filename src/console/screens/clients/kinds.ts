import type { Client } from '../../api/representations.ts';

/** The kinds of client that the console creates. */
export type Kind = 'web' | 'public' | 'service';

export const KINDS: Readonly<Record<Kind, { title: string; help: string }>> = {
  web: {
    title: 'Web application with a server',
    help: 'People sign in with a browser, and the server of the application keeps a secret.',
  },
  public: {
    title: 'Single-page, mobile or desktop application',
    help: 'People sign in with a browser. The application runs on their device, so it cannot keep a secret.',
  },
  service: {
    title: 'Service',
    help: 'A program calls APIs on its own behalf, with a secret and a service account. No user signs in.',
  },
};

/** The settings of a new client of each kind. Every client with a login requires PKCE. */
export const PRESETS: Readonly<Record<Kind, Partial<Client>>> = {
  web: {
    publicClient: false,
    standardFlowEnabled: true,
    serviceAccountsEnabled: false,
    directAccessGrantsEnabled: false,
    attributes: { 'pkce.code.challenge.method': 'S256', 'post.logout.redirect.uris': '+' },
    webOrigins: [],
  },
  public: {
    publicClient: true,
    standardFlowEnabled: true,
    serviceAccountsEnabled: false,
    directAccessGrantsEnabled: false,
    attributes: { 'pkce.code.challenge.method': 'S256', 'post.logout.redirect.uris': '+' },
    webOrigins: ['+'],
  },
  service: {
    publicClient: false,
    standardFlowEnabled: false,
    serviceAccountsEnabled: true,
    directAccessGrantsEnabled: false,
    attributes: {},
    redirectUris: [],
    webOrigins: [],
  },
};

/** Returns the kind of an existing client in words. */
export function kindOf(client: Client): string {
  if (client.bearerOnly === true) return 'Protected API';
  if (client.publicClient === true) return 'Public application';
  if (client.standardFlowEnabled === true) return 'Web application';
  return client.serviceAccountsEnabled === true ? 'Service' : 'Confidential client';
}
