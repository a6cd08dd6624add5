// Console: the administrators' application in the browser, with a screen for each kind of record and for the platform.
// Not decided here: what an administrator may do, because the console is an ordinary client of the administrative API.
// Must not know: the other rooms of src. It logs in with `idkit/client`, as any application does.
// Start at screens/table.ts, which lists the screens with their addresses, then main.tsx and frame/screen-host.tsx.
export { type Place, readPlace } from './api/admin-api.ts';
