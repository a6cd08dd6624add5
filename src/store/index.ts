// Store: the persistence contract and its drivers.
// Owns: the contract, migrations, sealing of secrets at rest, dump and load.
// Must not know: tokens' rules, HTTP.
// Start at contract.ts; open.ts is the door to the drivers. queries/ is written once with Kysely, records/ turns
// rows into the model, verbs/ are all writes, as generators that both drivers run. sqlite/ holds what is SQLite's own:
// the writer, reader and checkpoint threads, dump, load; postgres/ the connections, batches and the feed of changes.
// After a change in queries/ run `node src/store/sqlite/compile-queries.ts`.
export type * from './contract.ts';
export type { ListStore, Range } from './list-contract.ts';
export type { LoginStore, TakenCode } from './login-contract.ts';
