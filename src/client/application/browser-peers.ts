import type { BrowserWindow } from './browser-window.ts';
import type { PeerMessage, Peers } from './peers.ts';
import type { TokenSet } from './token-set.ts';

type Wire =
  | PeerMessage
  | { readonly type: 'ask'; readonly from: string }
  | { readonly type: 'have'; readonly to: string; readonly tokens: TokenSet | undefined };

const PATIENCE_MILLISECONDS = 1_000;

/**
 * Connects tabs through Web Locks and a BroadcastChannel of one name. Tokens travel in messages between pages of one
 * origin and are not stored. A granted lock does not mean that all messages have arrived, so its holder queries the other
 * tabs first. Each tab holds its own lock while it is open, so the others know how many responses to wait for.
 */
export function openBrowserPeers(window: BrowserWindow, name: string): Peers {
  const { locks } = window.navigator;
  const channel = new window.BroadcastChannel(name);
  const me = crypto.randomUUID();
  const presence = `${name} tab `;
  let leave = (): void => {};
  let answered: (tokens: TokenSet | undefined) => void = () => {};
  const arrived = new Promise<void>((resolve) => {
    void locks.request(presence + me, {}, () => {
      resolve();
      return new Promise<void>((gone) => {
        leave = gone;
      });
    });
  });
  /** Returns the names of all tabs, including this one. */
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
    listen(own, onMessage) {
      channel.onmessage = ({ data }) => {
        const message = data as Wire;
        if (message.type === 'ask') post({ type: 'have', to: message.from, tokens: own() });
        else if (message.type !== 'have') onMessage(message);
        else if (message.to === me) answered(message.tokens);
      };
    },
    exclusively: (work) => locks.request(`${name} renewal`, {}, work),
    async ask(whom) {
      let missing = (await listTabs()).length - 1;
      const found: TokenSet[] = [];
      if (missing > 0) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, PATIENCE_MILLISECONDS);
          answered = (tokens) => {
            if (tokens !== undefined) found.push(tokens);
            missing -= 1;
            if (missing > 0 && (whom === 'all' || tokens === undefined)) return;
            clearTimeout(timer);
            resolve();
          };
          post({ type: 'ask', from: me });
        });
        answered = () => {};
      }
      return found;
    },
    send: post,
    isOpen: async (tab) => (await listTabs()).includes(tab),
    close() {
      channel.close();
      void arrived.then(() => leave());
    },
  };
}
