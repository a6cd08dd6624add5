// Console: the administrators' application in the browser, with screens for realms, users, clients, events and keys.
// Not decided here: what an administrator may do, because the console is an ordinary client of the administrative API.
// Must not know: the other rooms of src. It logs in with `idkit/client`, as any application does.
// Start at main.tsx.
export { type Place, readPlace } from './api/admin-api.ts';
