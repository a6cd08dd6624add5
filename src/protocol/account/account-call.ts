import type { Client } from '../../model/index.ts';
import type { BrowserAnswer, BrowserCall, PageMessage, SsoSession } from '../browser/index.ts';
import type { AccountPageName } from './contract.ts';
import type { AccountRights } from './rights.ts';

/** A request of somebody who is logged in to a page about their own account. */
export interface AccountCall extends BrowserCall {
  /** The client `account`. */
  client: Client;
  /** The browser's login; its user is the only one that is ever touched. */
  sso: SsoSession;
  rights: AccountRights;
  page: AccountPageName;
}

/** How a page is shown after something happened. */
export interface ShowOptions {
  status?: number;
  message?: PageMessage;
}

/** One account page. */
export interface AccountRules {
  name: AccountPageName;
  may?(rights: AccountRights): boolean;
  show(account: AccountCall, options?: ShowOptions): Promise<BrowserAnswer>;
  submit(account: AccountCall): Promise<BrowserAnswer>;
}
