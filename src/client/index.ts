// Client: what consumers of the service call.
// Owns: administrative calls with one login kept and renewed; later the session keeper and resource-server
// verification.
// Must not know: the server.
// Start at admin-client.ts.
export { type AdminClient, type AdminConnection, connectAdmin, type RealmRecord } from './admin-client.ts';
export { fetchService, pinCertificate, type ServiceRequest } from './fetch-service.ts';
export { type Revocation, revokeToken } from './revoke-token.ts';
