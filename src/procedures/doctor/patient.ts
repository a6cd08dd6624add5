import type { Settings } from '../../config/index.ts';
import type { Platform } from '../../platform/index.ts';
import { type CallOptions, call, type ServiceResponse } from '../smoke/call.ts';
import { runCheck } from '../smoke/check.ts';
import type { SmokeCheck } from '../smoke/options.ts';
import { DOCTOR_CHECKS, type DoctorCheckId, type DoctorOptions } from './options.ts';

/** Timeout of one call in milliseconds. */
export const TIMEOUT = 10_000;

/** The platform under examination and the values that the checks share. */
export interface Patient {
  settings: Settings;
  options: DoctorOptions;
  platform: Platform;
  /** The address at which this machine reaches the running service. Undefined if it is not running. */
  serviceUrl: string | undefined;
  /** False if the file system of the backup root hangs, so that no check may touch it. */
  rootResponds: boolean;
  /** Runs one check. An error is a fault, and `DoesNotApply` skips the check. */
  check(id: DoctorCheckId, test: () => Promise<string>, subject?: string): Promise<SmokeCheck>;
  call(url: string, options?: Omit<CallOptions, 'signal' | 'timeoutMilliseconds'>): Promise<ServiceResponse>;
}

export function openPatient(
  settings: Settings,
  options: DoctorOptions,
  found: Pick<Patient, 'platform' | 'serviceUrl' | 'rootResponds'>,
): Patient {
  const { signal } = options;
  return {
    settings,
    options,
    ...found,
    check: (id, test, subject) =>
      runCheck({ id, title: DOCTOR_CHECKS[id], signal, ...(subject === undefined ? {} : { subject }) }, test),
    call: (url, own) => call(url, { ...own, signal, timeoutMilliseconds: TIMEOUT }),
  };
}

/** Returns the error of a check. The message says what is wrong and what to do. */
export function fault(message: string): Error {
  return new Error(message);
}
