import type { FieldFault } from '../../protocol/profile/index.ts';
import type { BrowserCall } from '../call.ts';
import type { LoginPage } from '../contract.ts';
import type { LoginInProgress } from '../login/progress.ts';
import type { RuleMessageKey } from '../message-keys.ts';
import type { PageMessage } from '../page-frame.ts';

/**
 * What became of an action's form. `done`: the login goes on with what changed; `refused`: the user will not; `again`:
 * the form is shown once more, with what is wrong.
 */
export type ActionResult =
  | { outcome: 'done'; login: Partial<LoginInProgress> }
  | { outcome: 'refused' }
  | { outcome: 'again'; message: PageMessage; faults?: readonly FieldFault[] };

/** Something that a user must do in the browser before a client is answered. */
export interface RequiredAction {
  /** Said above the form. */
  message?: RuleMessageKey;
  /**
   * @param action URL that the form is posted to
   * @param faults of the form that was sent just now; its values are shown again
   */
  show(
    call: BrowserCall,
    login: LoginInProgress,
    action: string,
    faults: readonly FieldFault[] | undefined,
  ): LoginPage;
  submit(call: BrowserCall, login: LoginInProgress): Promise<ActionResult>;
}
