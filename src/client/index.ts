// Client: what consumers of the service call.
// Owns: administrative calls; later the session keeper and resource-server verification.
// Must not know: the server.
// Start at admin-client.ts.
export type { AdminClient, AdminConnection, RealmRecord } from './admin-client.ts';
