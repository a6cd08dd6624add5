// Client: what consumers of the service call.
// Owns: administrative calls with one login kept and renewed (here, for this package); application/ and
// resource-server/ are the package's entries `idkit/client` and `idkit/resource-server`, which stand on their own.
// Must not know: the server.
// Start at admin-client.ts; for the entries at their own index.ts.
export { type AdminClient, connectAdmin, type RealmRecord } from './admin-client.ts';
export type { AdminConnection } from './admin-connection.ts';
export { fetchService, pinCertificate, type ServiceRequest } from './fetch-service.ts';
export { type Revocation, revokeToken } from './revoke-token.ts';
