// Console: the administrators' application in the browser, an ordinary client of the administrative API.
// Owns: screens of realms, users, clients, events and keys.
// Must not know: anything in src; it logs in by `idkit/client`, as any application does.
// Start at main.tsx.
export { type Place, readPlace } from './api/admin-api.ts';
