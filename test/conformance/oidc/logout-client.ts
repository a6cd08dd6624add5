import type { Platform } from './platform.ts';
import type { TestClient } from './realm.ts';
import { tokensOf } from './token-client.ts';
import { answerOf, type ShownPage, UserAgent } from './user-agent.ts';

/** A browser in which alice has logged in to a client, and the tokens of that login. */
export interface LoggedIn {
  agent: UserAgent;
  idToken: string;
  accessToken: string;
  sessionState: string;
}

/** Logs alice in to a client. */
export async function logInAt(platform: Platform, client: TestClient): Promise<LoggedIn> {
  const agent = new UserAgent(platform);
  const fields = await agent.logInAt(client);
  const tokens = await tokensOf(platform, client, fields);
  return {
    agent,
    idToken: tokens['id_token']!,
    accessToken: tokens['access_token']!,
    sessionState: fields['session_state']!,
  };
}

/** Returns the URL of a logout request (RP-Initiated Logout 2). */
export function logoutUrl({ protocol }: Platform, parameters: Readonly<Record<string, string>> = {}): string {
  const query = new URLSearchParams(parameters).toString();
  return `${protocol}/logout${query === '' ? '' : `?${query}`}`;
}

/** Returns whether the browser is still logged in, which it checks with prompt=none. */
export async function isLoggedIn({ agent }: LoggedIn, client: TestClient): Promise<boolean> {
  const { fields } = answerOf(await agent.authorize(client, { prompt: 'none' }));
  if (fields['code'] !== undefined) return true;
  if (fields['error'] === 'login_required') return false;
  throw new Error(JSON.stringify(fields));
}

/** Confirms the logout on the page. */
export function confirm({ agent }: LoggedIn, page: ShownPage) {
  return agent.submit(page, 'kc-logout-form', { confirmLogout: 'Logout' });
}
