// Runtime: one contract, "the platform, running".
// Owns: the embedded platform, and the one in containers.
// Must not know: procedures.
// Start at contract.ts; open.ts is the door to the implementations.
export type * from './contract.ts';
export type * from './parts.ts';
export type { RunningService, ServeOptions, ServiceLog, Unenforceable } from './service.ts';
