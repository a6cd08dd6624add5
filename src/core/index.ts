// Core: the basic types and functions that every room uses.
// Owns: the error catalogue and exit codes, Secret, the clock, randomness, counts in messages, named locks,
// slices of long work, urgent work.
// Must not know: any I/O.
// Start at errors.ts.
export {
  beginWriting,
  type CallerName,
  callerName,
  callerSignal,
  forCaller,
  isAdministrative,
  nameCaller,
  unwrittenSignal,
} from './caller.ts';
export {
  type CatalogueEntry,
  ERROR_CATALOGUE,
  type ErrorCode,
  EXIT_CODES,
  type ExitCode,
} from './catalogue.ts';
export { errorMessage, IdkitError, systemErrorCode } from './errors.ts';
export { decodeJsonObject, isJsonObject, type JsonObject, jsonFields, parseJsonObject } from './json.ts';
export { nearestName } from './nearest-name.ts';
export { parseJsonInSlices } from './parse-json.ts';
export {
  type Branded,
  type Clock,
  type Milliseconds,
  type Random,
  randomId,
  type Seconds,
  seconds,
  systemClock,
  systemRandom,
  uuid,
} from './ports.ts';
export { ownsMemory, releaseMemory } from './release-memory.ts';
export { renderCount } from './render-count.ts';
export { Secret } from './secret.ts';
export { SliceSize } from './slice-size.ts';
export { mapInSlices, Slices } from './slices.ts';
export { threadModule } from './thread-module.ts';
export { inTurn, inTurns, inTurnWithin } from './turns.ts';
export { untilApplied } from './until-applied.ts';
export { isUrgent, urgently } from './urgent.ts';
