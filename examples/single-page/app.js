// A single-page application. Tokens are in memory only, are renewed before they expire, and are shared by the tabs. The
// page shows the state of the session and nothing else.

import { openBrowserSession } from 'idkit/client';

const { issuer, api } = await (await fetch('/config.json')).json();
const find = (id) => document.getElementById(id);

const session = openBrowserSession({
  issuer,
  clientId: 'shop',
  redirectUri: `${location.origin}/`,
  apiOrigins: [new URL(api).origin],
  onChange: show,
  // Log and alert: an unexpected login follows the reuse of a refresh token, among other things.
  onUnexpectedLogin: (report) => navigator.sendBeacon('/reports', JSON.stringify(report)),
});

function show(state) {
  const texts = {
    starting: () => '…',
    logging_in: () => 'Logging in …',
    logged_in: () => `Hello, ${state.user.name ?? state.user.preferred_username}`,
    logged_out: () => `Logged out (${[state.reason, state.errorDescription].filter(Boolean).join(': ')})`,
  };
  find('state').textContent = texts[state.name]();
  find('login').hidden = state.name !== 'logged_out';
  find('orders').hidden = find('logout').hidden = state.name !== 'logged_in';
  if (state.name !== 'logged_in') find('list').replaceChildren();
}

find('login').onclick = () => session.login();
find('logout').onclick = () => session.logout();
find('orders').onclick = async () => {
  const answer = await session.fetch(`${api}/orders`);
  const lines = answer.ok
    ? (await answer.json()).orders.map(({ what }) => what)
    : [`no access (${answer.status})`];
  find('list').replaceChildren(
    ...lines.map((text) => Object.assign(document.createElement('li'), { textContent: text })),
  );
};

await session.start();
