// Admin: realm administration as functions of plain values.
// Owns: representations, import and export, what an administrator may do.
// Must not know: HTTP, SQL.
// Start at context.ts.
export type { AdminContext, Caller } from './context.ts';
