// A page on keycloak-js as its documentation shows: check-sso in a hidden frame, the login iframe, renewal, logout.
import Keycloak from 'keycloak-js';

const status = document.getElementById('status');
const show = (text) => {
  status.textContent = text;
};

if (location.pathname === '/silent.html') parent.postMessage(location.href, location.origin);
else {
  const { url } = await (await fetch('/config.json')).json();
  const keycloak = new Keycloak({ url, realm: 'example', clientId: 'keycloak-js' });
  keycloak.onAuthLogout = () => show('signed out elsewhere');
  document.getElementById('login').onclick = () => keycloak.login();
  document.getElementById('logout').onclick = () => keycloak.logout();
  document.getElementById('renew').onclick = async () => {
    const before = keycloak.token;
    await keycloak.updateToken(-1);
    show(
      keycloak.token === before ? 'not renewed' : `renewed for ${keycloak.tokenParsed.preferred_username}`,
    );
  };
  try {
    const authenticated = await keycloak.init({
      onLoad: 'check-sso',
      silentCheckSsoRedirectUri: `${location.origin}/silent.html`,
      checkLoginIframe: true,
      checkLoginIframeInterval: 1,
      messageReceiveTimeout: 30_000,
      pkceMethod: 'S256',
    });
    if (authenticated) {
      const [info, profile] = await Promise.all([keycloak.loadUserInfo(), keycloak.loadUserProfile()]);
      show(`${info.preferred_username}, ${profile.email}`);
    } else show('nobody');
  } catch (error) {
    show(`failed: ${error?.message ?? error?.error}`);
  }
}
