// Procedures: backup, verify, restore, drill, smoke; each a runbook and a file per step.
// Owns: the order of the steps and what each one proves.
// Must not know: runtime implementations, store, HTTP, terminal.
// Start at reporter.ts, then backup/runbook.ts.
export type { Finding, Reporter } from './reporter.ts';
