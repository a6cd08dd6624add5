// A page on oidc-client-ts as its documentation shows: login, renewal in a hidden frame, session monitoring, logout.
import { InMemoryWebStorage, UserManager, WebStorageStateStore } from 'oidc-client-ts';

const { authority } = await (await fetch('/config.json')).json();
const here = `${location.origin}/`;
const manager = new UserManager({
  authority,
  client_id: 'oidc-client-ts',
  redirect_uri: here,
  silent_redirect_uri: `${here}silent.html`,
  post_logout_redirect_uri: here,
  scope: 'openid profile email',
  loadUserInfo: true,
  monitorSession: true,
  checkSessionIntervalInSeconds: 1,
  automaticSilentRenew: false,
  silentRequestTimeoutInSeconds: 30,
  userStore: new WebStorageStateStore({ store: new InMemoryWebStorage() }),
});
const status = document.getElementById('status');
const show = (text) => {
  status.textContent = text;
};
const showUser = (user) => show(`${user.profile.preferred_username}, ${user.profile.email}`);

if (location.pathname === '/silent.html') await manager.signinSilentCallback();
else {
  manager.events.addUserSignedOut(() => show('signed out elsewhere'));
  document.getElementById('login').onclick = () => manager.signinRedirect();
  document.getElementById('logout').onclick = () => manager.signoutRedirect();
  document.getElementById('renew').onclick = async () => {
    try {
      const before = await manager.getUser();
      const user = await manager.signinSilent({ forceIframeAuth: true });
      show(
        user.access_token === before?.access_token
          ? 'not renewed'
          : `renewed for ${user.profile.preferred_username}`,
      );
    } catch (error) {
      show(`not renewed: ${error.error ?? error.message}`);
    }
  };
  const answer = new URLSearchParams(location.search);
  if (answer.has('code')) {
    showUser(await manager.signinRedirectCallback());
    history.replaceState(null, '', here);
  } else show('nobody');
}
