import type { Platform } from './platform.ts';
import { tokensOf } from './token-client.ts';
import { UserAgent } from './user-agent.ts';

/** A page of the service with its response headers, as certification scripts load it. */
interface ScriptedPage {
  markup: string;
  headers: Headers;
}

async function read(answer: Response): Promise<ScriptedPage> {
  return { markup: await answer.text(), headers: answer.headers };
}

/** The pages that continue by script, each with a function that requests it. */
export const PAGES_WITH_SCRIPTS: Readonly<Record<string, (platform: Platform) => Promise<ScriptedPage>>> = {
  'the page of form_post': async (platform) => {
    const browser = new UserAgent(platform, 'form_post');
    const url = browser.authorizationUrl(platform.one, { prompt: 'none' });
    return read(await browser.jar.fetch(String(url)));
  },
  'the page of front-channel logout': async (platform) => {
    const client = await platform.addClient('framed', {
      frontchannelLogout: true,
      attributes: {
        'frontchannel.logout.url': `${platform.web.origin}/framed/logout`,
        'post.logout.redirect.uris': `${platform.web.origin}/bye`,
      },
    });
    const browser = new UserAgent(platform);
    const tokens = await tokensOf(platform, client, await browser.logInAt(client));
    const logout = new URLSearchParams({
      id_token_hint: tokens['id_token']!,
      post_logout_redirect_uri: `${platform.web.origin}/bye`,
    });
    return read(await browser.jar.fetch(`${platform.protocol}/logout?${logout}`));
  },
  'the session iframe': async ({ protocol }) => read(await fetch(`${protocol}/login-status-iframe.html`)),
};
