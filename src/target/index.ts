// Target: places for copies outside the backup root, as one interface for files.
// Owns: the syntax of locations, a directory (directory/), a bucket of S3 (s3/), a directory of another machine over
// sftp (ssh/), a remote of rclone (rclone/).
// Decides how a file gets to its place completely or not at all, and what a hostile target may not do.
// Must not know: backup sets, archives, settings.
// Start at contract.ts, then open.ts.
export type { PutOptions, Target, TargetFile } from './contract.ts';
export { isTargetFault, TargetFileFault, type TargetFileReason } from './faults.ts';
export {
  absoluteLocation,
  isRemoteLocation,
  joinLocation,
  parseLocation,
  splitLocation,
  type TargetLocation,
} from './location.ts';
export { type OpenTargetOptions, openTarget } from './open.ts';
