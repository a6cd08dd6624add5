import type { FieldFault } from '../../protocol/profile/index.ts';
import type { BrowserCall } from '../call.ts';
import type { LoginPage } from '../contract.ts';
import type { LoginInProgress, StoredLogin } from '../login/progress.ts';
import type { RuleMessageKey } from '../message-keys.ts';
import type { PageMessage } from '../page-frame.ts';

/**
 * The result of an action's form. `done`: the login continues with the changed records. `refused`: the user declined.
 * `again`: the form has a fault and is shown again.
 */
export type ActionResult =
  | { outcome: 'done'; login: Partial<LoginInProgress> }
  | { outcome: 'refused' }
  | { outcome: 'again'; message: PageMessage; faults?: readonly FieldFault[] };

/** An action that a user must complete in the browser before the client gets a response. */
export interface RequiredAction {
  /** The message above the form. */
  message?: RuleMessageKey;
  /**
   * @param action the URL to which the form is posted
   * @param faults the faults of the submitted form, whose values the page shows again
   */
  show(
    call: BrowserCall,
    login: LoginInProgress,
    action: string,
    faults: readonly FieldFault[] | undefined,
  ): LoginPage;
  submit(call: BrowserCall, login: StoredLogin): Promise<ActionResult>;
}
