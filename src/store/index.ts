// Store: the persistence contract and its drivers.
// Decided here: what is stored, how it is encrypted, how it is dumped. Must not know: the rules of tokens, HTTP.
// Start at contract/index.ts. open.ts is the door to the drivers.
// sql/ implements the contract for both drivers. queries/ is written once with Kysely, records/ converts rows to the
// model, and verbs/ contains every write as a generator. sqlite/ and postgres/ contain what only one driver needs.
// After a change in queries/, run `node src/store/queries/compile.ts`.
export type * from './contract/index.ts';
