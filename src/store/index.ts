// Store: the persistence contract and its drivers. Decided here: what is stored, how it is sealed, how it is dumped.
// Must not know: tokens' rules, HTTP.
// Start at contract/index.ts; open.ts is the door to the drivers. sql/ answers the contract for both drivers: queries/
// is written once with Kysely, records/ turns rows into the model, and verbs/ holds every write as a generator. sqlite/
// and postgres/ hold what is their own. After a change in queries/ run `node src/store/queries/compile.ts`.
export type * from './contract/index.ts';
