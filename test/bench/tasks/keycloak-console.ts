import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FILE_USERS, NEW_PASSWORD, REALM, REDIRECT_URI } from './tasks.ts';
import type { BrowserHand, Doings } from './way.ts';
import { withoutIds } from './without-ids.ts';

const NOTHING = 'Keycloak has no backup';

/**
 * The tasks in Keycloak's own console. Every task starts on the screen Users of the realm. Keycloak's console reads no
 * file of users, so the role is given to one user after the other; `bulk` is how many.
 */
export function doInKeycloakConsole(hand: BrowserHand, dir: string, bulk: number): Doings {
  const { page } = hand;
  const id = (name: string) => page.getByTestId(name);
  const link = (name: string) => page.getByRole('link', { name, exact: true });
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const reads = (text: string | RegExp) => hand.read(page.getByText(text));
  const searchUser = async (search: string, username: string) => {
    await hand.fill(page.getByPlaceholder('Search user'), search);
    await hand.press('Enter');
    // The link of a locked user has a label after the name.
    await hand.click(page.getByRole('link', { name: new RegExp(`^${username}`) }));
  };
  const openClient = async (clientId: string) => {
    await hand.click(id('nav-item-clients'));
    await hand.fill(page.getByPlaceholder('Search for client'), clientId);
    await hand.press('Enter');
    await hand.click(link(clientId));
  };
  return {
    async unlock() {
      await searchUser('linda@example.org', 'linda');
      await hand.click(page.locator('label', { has: id('user-locked-switch') }));
      await hand.click(id('user-creation-save'));
      return reads('The user has been saved');
    },
    async password() {
      await searchUser('petra', 'petra');
      await hand.click(id('credentials'));
      await hand.click(id('resetPasswordBtn'));
      await hand.fill(id('passwordField'), NEW_PASSWORD);
      await hand.fill(id('passwordConfirmationField'), NEW_PASSWORD);
      await hand.click(id('confirm'));
      await hand.click(page.getByRole('dialog').getByRole('button', { name: 'Reset password' }));
      return reads('The password has been reset successfully.');
    },
    async sessions() {
      await searchUser('omar', 'omar');
      await hand.click(id('user-sessions-tab'));
      await hand.click(button('Logout all sessions'));
      await hand.click(button('Confirm'));
      return reads('No sessions');
    },
    async bulk() {
      for (const username of FILE_USERS.slice(0, bulk)) {
        await hand.click(id('nav-item-users'));
        await searchUser(username, username);
        await hand.click(id('role-mapping-tab'));
        await hand.click(id('assignRole').or(button('Assign role')));
        await hand.click(page.getByRole('menuitem', { name: 'Realm roles' }));
        await hand.fill(page.getByRole('dialog').getByPlaceholder('Search by role name'), 'auditor');
        await hand.press('Enter');
        await hand.click(
          page
            .getByRole('dialog')
            .getByRole('row', { name: /auditor/ })
            .getByRole('checkbox'),
        );
        await hand.click(page.getByRole('dialog').getByRole('button', { name: 'Assign' }));
        await reads('User role mapping successfully updated');
      }
      return '';
    },
    async group() {
      await searchUser('petra', 'petra');
      await hand.click(id('user-groups-tab'));
      await hand.click(button('Join Group'));
      const dialog = page.getByRole('dialog');
      await hand.fill(dialog.getByPlaceholder(/Search/), 'berlin');
      await hand.press('Enter');
      await hand.click(dialog.getByRole('checkbox', { name: /berlin/ }));
      await hand.click(dialog.getByRole('button', { name: 'Join' }));
      return reads('Added group membership');
    },
    async logins() {
      await hand.click(id('nav-item-events'));
      // The list shows ids. The link of an id leads to the user.
      await hand.click(
        page
          .getByRole('row')
          .filter({ hasText: /LOGIN(?!_)/ })
          .getByRole('link'),
      );
      return hand.read(id('view-header').filter({ hasNotText: 'Events' }));
    },
    async client() {
      await hand.click(id('nav-item-clients'));
      await hand.click(id('createClient'));
      await hand.fill(id('clientId'), 'orders');
      await hand.click(button('Next'));
      await hand.click(
        page.locator('label', { has: page.locator('#kc-authentication, [data-testid=authentication]') }),
      );
      await hand.click(button('Next'));
      await hand.fill(id('redirectUris0'), 'https://orders.example.org/callback');
      await hand.click(button('Save'));
      await reads('Client created successfully');
      await hand.click(page.getByRole('tab', { name: 'Credentials' }));
      await hand.click(page.getByRole('button', { name: /^Show (secret|password|field)/ }));
      await hand.read(page.locator('#kc-client-secret'));
      return page.locator('#kc-client-secret').inputValue();
    },
    async redirect() {
      await openClient('shop');
      await hand.click(id('redirectUris-addValue'));
      await hand.fill(id('redirectUris1'), REDIRECT_URI);
      await hand.click(id('settings-save').or(button('Save')));
      return reads('Client successfully updated');
    },
    async disable() {
      await openClient('legacy');
      await hand.click(
        page
          .locator('label', { has: page.getByTestId('legacy-switch') })
          .or(page.locator('label:has(#toggle)')),
      );
      await hand.click(id('confirm'));
      return reads('Client successfully updated');
    },
    async lifetime() {
      await hand.click(id('nav-item-realm-settings'));
      await hand.click(id('rs-tokens-tab'));
      await hand.fill(id('access-token-lifespan-input'), '10');
      await hand.click(id('tokens-tab-save'));
      return reads('Realm successfully updated');
    },
    async key() {
      await hand.click(id('nav-item-realm-settings'));
      await hand.click(id('rs-keys-tab'));
      await hand.click(id('rs-providers-tab'));
      await hand.click(page.getByRole('button', { name: 'Add provider' }));
      await hand.click(page.getByRole('dialog').getByText('rsa-generated', { exact: true }));
      await hand.fill(id('name'), 'rsa-generated-2');
      await hand.fill(id('priority'), '200');
      await hand.click(id('add-provider-button').or(button('Save')));
      return hand.read(link('rsa-generated-2'));
    },
    async export() {
      const file = join(dir, 'keycloak-export.json');
      await hand.click(id('nav-item-realm-settings'));
      await hand.click(id('action-dropdown'));
      await hand.click(page.getByRole('menuitem', { name: 'Partial export' }));
      for (const name of ['include-groups-and-roles-check', 'include-clients-check'])
        await hand.click(page.locator('label', { has: id(name) }));
      await hand.download(id('confirm').or(id('export-button')), file);
      // Keycloak refuses the ids of a realm that exists. An editor or a script has to remove them.
      hand.steps += 1;
      const copy = join(dir, 'keycloak-copy.json');
      writeFileSync(copy, JSON.stringify(withoutIds(JSON.parse(readFileSync(file, 'utf8')))));
      await hand.click(id('nav-item-realms'));
      await hand.click(id('add-realm'));
      await hand.upload(page.locator('input[type=file]'), copy);
      await hand.fill(id('realm'), `${REALM}-copy`);
      await hand.click(button('Create'));
      return reads('Realm created successfully');
    },
    backup: NOTHING,
    restore: NOTHING,
  };
}
