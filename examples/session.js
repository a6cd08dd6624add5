// A user's session from login to logout, with one refresh. Plain Node.js; works with idkit and Keycloak 26. (The
// password grant is for administration and tests. People log in with a browser.)
//
//   BASE_URL=http://127.0.0.1:8080 USERNAME=admin PASSWORD=… node examples/session.js

const { BASE_URL = 'http://127.0.0.1:8080', REALM = 'master', CLIENT_ID = 'admin-cli' } = process.env;
const { USERNAME = 'admin', PASSWORD = '' } = process.env;

/** Sends a form to an endpoint of the realm and returns the parsed response. */
async function post(endpoint, form) {
  const url = `${BASE_URL}/realms/${encodeURIComponent(REALM)}/protocol/openid-connect/${endpoint}`;
  const answer = await fetch(url, {
    method: 'POST',
    body: new URLSearchParams({ client_id: CLIENT_ID, ...form }),
  });
  const text = await answer.text();
  return { status: answer.status, body: text === '' ? {} : JSON.parse(text) };
}

const login = await post('token', { grant_type: 'password', username: USERNAME, password: PASSWORD });
if (login.status !== 200) throw new Error(`${login.status} ${login.body.error_description}`);
console.log(`logged in for ${login.body.expires_in} s`);

// Every refresh returns a new refresh token. The old one is used up; presenting it again ends the session.
const renewed = await post('token', {
  grant_type: 'refresh_token',
  refresh_token: login.body.refresh_token,
});
if (renewed.status !== 200) throw new Error(`${renewed.status} ${renewed.body.error_description}`);
console.log(
  `refreshed: ${renewed.body.refresh_token === login.body.refresh_token ? 'same' : 'new'} refresh token`,
);

const logout = await post('logout', { refresh_token: renewed.body.refresh_token });
console.log(`logged out: ${logout.status}`);

const late = await post('token', {
  grant_type: 'refresh_token',
  refresh_token: renewed.body.refresh_token,
});
console.log(`afterwards: ${late.status} ${late.body.error}`);
