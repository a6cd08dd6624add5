import { join } from 'node:path';
import { NEW_PASSWORD, REALM, REDIRECT_URI } from './tasks.ts';
import type { BrowserHand, Doings } from './way.ts';

/** The tasks in idkit's console. Every task starts on the screen Users of the realm. */
export function doInIdkitConsole(hand: BrowserHand, dir: string): Doings {
  const { page } = hand;
  const dialog = page.getByRole('dialog');
  const link = (name: string) => page.getByRole('link', { name, exact: true });
  const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true });
  const tab = (name: string) => page.getByRole('tab', { name, exact: true });
  /** A dialog has a second button to close it, in its corner. */
  const confirm = (name: string) => hand.click(dialog.getByRole('button', { name, exact: true }).last());
  const reads = (text: string | RegExp) => hand.read(page.getByText(text));
  const openUser = async (search: string, username: string) => {
    await hand.fill(page.getByLabel('Search by name or e-mail'), search);
    await hand.click(link(username));
  };
  const openClient = async (clientId: string) => {
    await hand.click(link('Clients'));
    await hand.click(link(clientId));
  };
  return {
    async unlock() {
      await openUser('linda@example.org', 'linda');
      await reads(/Locked until/);
      await hand.click(button('Unlock'));
      return reads('linda was unlocked');
    },
    async password() {
      await openUser('petra', 'petra');
      await hand.click(tab('Credentials'));
      await hand.click(button('Set password'));
      await hand.fill(dialog.getByLabel('New password'), NEW_PASSWORD);
      await confirm('Set password');
      return reads('The password was set');
    },
    async sessions() {
      await openUser('omar', 'omar');
      await hand.click(tab('Sessions'));
      await hand.click(button('Sign out everywhere'));
      return reads('No sessions');
    },
    async bulk() {
      await hand.click(button('Choose from a file'));
      await hand.upload(dialog.getByLabel('File'), join(dir, 'users.csv'));
      await hand.read(dialog.getByText('200 users found'));
      await confirm('Choose 200 users');
      await hand.click(button('200 users chosen'));
      await hand.click(page.getByRole('menuitem', { name: 'Give a role' }));
      await hand.fill(dialog.getByRole('textbox'), 'auditor');
      await hand.click(dialog.getByLabel('auditor'));
      await confirm('Give a role');
      return hand.read(dialog.getByText('200 of 200'));
    },
    async group() {
      await openUser('petra', 'petra');
      await hand.click(tab('Groups'));
      await hand.click(button('Add to group'));
      await hand.fill(dialog.getByLabel('Search groups'), 'berlin');
      await hand.click(dialog.getByLabel('/staff/berlin'));
      await confirm('Add');
      return hand.read(page.getByRole('gridcell', { name: '/staff/berlin' }));
    },
    async logins() {
      await hand.click(link('Events'));
      await hand.read(page.getByRole('row', { name: /nora/ }));
      return page.getByRole('grid').first().innerText();
    },
    async client() {
      await hand.click(link('Clients'));
      await hand.click(button('Create client'));
      await hand.fill(dialog.getByLabel('Client id'), 'orders');
      await hand.fill(dialog.getByLabel('Redirect URIs'), 'https://orders.example.org/callback');
      await confirm('Create');
      await hand.click(tab('Secret'));
      await hand.click(button('Show secret'));
      await hand.read(page.getByLabel('Client secret'));
      return page.getByLabel('Client secret').inputValue();
    },
    async redirect() {
      await openClient('shop');
      const field = page.getByLabel('Redirect URIs, one per line');
      await hand.fill(field, `${await field.inputValue()}\n${REDIRECT_URI}`);
      await hand.click(button('Save'));
      return reads('The client was saved');
    },
    async disable() {
      await openClient('legacy');
      await hand.click(page.getByText('Enabled: the application can get tokens'));
      await hand.click(button('Save'));
      return reads('The client was saved');
    },
    async lifetime() {
      await hand.click(link('Realm settings'));
      await hand.click(tab('Tokens'));
      await hand.fill(page.getByLabel('Lifetime of an access token', { exact: true }), '10');
      await hand.click(button('Save'));
      return reads('The settings were saved');
    },
    async key() {
      await hand.click(link('Keys'));
      await hand.click(button('Rotate RS256 key'));
      await confirm('Rotate');
      return reads('A new RS256 key is in use');
    },
    async export() {
      const file = join(dir, 'console-export.json');
      await hand.click(link('Realm settings'));
      await hand.click(button('Export'));
      await hand.download(dialog.getByRole('button', { name: 'Download' }), file);
      await hand.click(link('Realms'));
      await hand.click(button('Import'));
      await hand.upload(dialog.getByLabel('File'), file);
      await hand.fill(dialog.getByLabel('Name of the new realm'), `${REALM}-copy`);
      await hand.read(dialog.getByText(`Creates realm ${REALM}-copy`));
      await confirm('Import');
      return hand.read(page.getByRole('heading', { name: 'Users', level: 1 }));
    },
    async backup() {
      await hand.click(link('Operations'));
      return hand.read(page.getByRole('row').filter({ hasText: /\d{8}_\d{6}/ }));
    },
    restore: 'the screen Operations shows the command to copy',
  };
}
