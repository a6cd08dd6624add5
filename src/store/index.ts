// Store: the persistence contract and its drivers.
// Owns: the contract, migrations, sealing of secrets at rest, dump and load.
// Must not know: tokens' rules, HTTP.
// Start at contract.ts; open.ts is the door to the drivers.
export type * from './contract.ts';
