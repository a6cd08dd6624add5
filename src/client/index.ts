// Client: what consumers of the service call.
// Owns: administrative calls with one login that is stored and renewed (admin/, for this package); application/ and
// resource-server/ are the package's entries `idkit/client` and `idkit/resource-server`, each independent of the rest.
// Must not know: the server.
// Start at admin/admin-client.ts; for the entries, at their own index.ts.
export { type AdminClient, connectAdmin, type RealmRecord } from './admin/admin-client.ts';
export { fetchService, pinCertificate, type ServiceRequest } from './admin/fetch-service.ts';
export type { AdminConnection } from './admin/login.ts';
export { type Revocation, revokeToken } from './admin/revoke-token.ts';
