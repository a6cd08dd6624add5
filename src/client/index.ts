// Client: the functions with which programs call the service.
// Owns: administrative calls with one login, which it stores and renews (admin/), and the login of a person by browser
// or device code (person/), both for this package. application/ and resource-server/ are the package's entries
// `idkit/client` and `idkit/resource-server`, which depend on no other part.
// Must not know: the service.
// Start at admin/admin-client.ts; each entry has its own index.ts.
export {
  type AdminClient,
  type AdminRequest,
  connectAdmin,
  type RealmRecord,
} from './admin/admin-client.ts';
export type { ServiceResponse } from './admin/call-service.ts';
export {
  type ArrivingResponse,
  fetchService,
  pinCertificate,
  type ServiceRequest,
} from './admin/fetch-service.ts';
export {
  type AdminConnection,
  endKeptSession,
  keepLogin,
  passwordLogin,
  readKeptLogin,
  removeKeptLogin,
} from './admin/login.ts';
export { describeRefusal } from './admin/refusal-text.ts';
export { type Revocation, revokeToken } from './admin/revoke-token.ts';
export type { KeptLogin } from './admin/token-file.ts';
export { type BrowserLogin, logInByBrowser } from './person/browser-login.ts';
export { type DeviceLogin, logInByDevice } from './person/device-login.ts';
export { discover, type LoginService, mayUseBrowser } from './person/login-service.ts';
export { isLoopbackHost } from './service-url.ts';
