import type { BrowserWindow } from './browser-window.ts';
import type { PeerMessage, Peers } from './peers.ts';
import type { TokenSet } from './token-set.ts';

type Wire =
  | PeerMessage
  | { readonly type: 'ask'; readonly from: string }
  | { readonly type: 'have'; readonly to: string; readonly tokens: TokenSet | undefined };

const REPLY_TIMEOUT_MILLISECONDS = 1_000;

/**
 * Connects the tabs of an application through Web Locks and a BroadcastChannel whose names begin with `name`. Tokens
 * travel only in messages between pages of one origin, and no tab stores them.
 *
 * When a tab gets the renewal lock, messages of the previous holder may still be on their way, so the tab first asks
 * the other tabs for their tokens. Each tab holds a presence lock until it closes. The asking tab counts these locks to
 * know how many replies to expect.
 */
export function openBrowserPeers(window: BrowserWindow, name: string): Peers {
  const { locks } = window.navigator;
  const channel = new window.BroadcastChannel(name);
  const me = crypto.randomUUID();
  const presence = `${name} tab `;
  let releasePresence = (): void => {};
  let onReply: (tokens: TokenSet | undefined) => void = () => {};
  const arrived = new Promise<void>((resolve) => {
    void locks.request(presence + me, {}, () => {
      resolve();
      return new Promise<void>((release) => {
        releasePresence = release;
      });
    });
  });
  /** Returns the names of all open tabs, including this one. */
  const listTabs = async (): Promise<readonly string[]> => {
    await arrived;
    const { held } = await locks.query();
    return held
      .filter((lock) => lock.name.startsWith(presence))
      .map((lock) => lock.name.slice(presence.length));
  };
  const post = (message: Wire): void => channel.postMessage(message);
  return {
    me,
    listen(ownTokens, onMessage) {
      channel.onmessage = ({ data }) => {
        // Every message comes from this library, because only pages of the same origin can post to the channel.
        const message = data as Wire;
        if (message.type === 'ask') post({ type: 'have', to: message.from, tokens: ownTokens() });
        else if (message.type !== 'have') onMessage(message);
        else if (message.to === me) onReply(message.tokens);
      };
    },
    exclusively: (work) => locks.request(`${name} renewal`, {}, work),
    async ask(whom) {
      let missing = (await listTabs()).length - 1;
      const received: TokenSet[] = [];
      if (missing > 0) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, REPLY_TIMEOUT_MILLISECONDS);
          onReply = (tokens) => {
            if (tokens !== undefined) received.push(tokens);
            missing -= 1;
            if (missing > 0 && (whom === 'all' || tokens === undefined)) return;
            clearTimeout(timer);
            resolve();
          };
          post({ type: 'ask', from: me });
        });
        onReply = () => {};
      }
      return received;
    },
    send: post,
    isOpen: async (tab) => (await listTabs()).includes(tab),
    close() {
      channel.close();
      void arrived.then(() => releasePresence());
    },
  };
}
