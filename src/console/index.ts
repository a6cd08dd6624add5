// Console: the administrators' application in the browser, an ordinary client of the administrative API.
// Owns: screens of realms, users, clients, events and keys, and how they are built (build.ts).
// Must not know: anything in src; it logs in by `idkit/client`, as any application does.
// Start at main.tsx.
export { type Place, readPlace } from './place.ts';
