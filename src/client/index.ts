// Client: the functions with which programs call the service.
// Owns: administrative calls with one login, which it stores and renews (admin/, for this package). application/ and
// resource-server/ are the package's entries `idkit/client` and `idkit/resource-server`, which depend on no other part.
// Must not know: the service.
// Start at admin/admin-client.ts; each entry has its own index.ts.
export { type AdminClient, connectAdmin, type RealmRecord } from './admin/admin-client.ts';
export { fetchService, pinCertificate, type ServiceRequest } from './admin/fetch-service.ts';
export type { AdminConnection } from './admin/login.ts';
export { type Revocation, revokeToken } from './admin/revoke-token.ts';
