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
  /** Shown above the form. */
  message?: RuleMessageKey;
  /**
   * @param action URL that the form is posted to
   * @param faults of the form that was sent. Its values are shown again.
   */
  show(
    call: BrowserCall,
    login: LoginInProgress,
    action: string,
    faults: readonly FieldFault[] | undefined,
  ): LoginPage;
  submit(call: BrowserCall, login: StoredLogin): Promise<ActionResult>;
}
