// Files: writes files so that they survive a crash, and explains errors of the operating system to the operator.
// Owns: replacing and creating files, syncing, finding an entry, the map of system errors. Decides how a write becomes
// durable and which IDKIT code a failed write has, not what a file contains or where it is.
// Must not know: any format, setting or directory of a platform. Start at durable.ts.
export { createFile, findEntry, replaceFile, syncDirectory, syncFile } from './durable.ts';
export { isMissing, SYSTEM_ERRORS, writeFault, writing } from './system-errors.ts';
export { hasEnded, makeTemporaryDirectory } from './temporary.ts';
