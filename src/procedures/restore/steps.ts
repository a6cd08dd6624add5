import type { StepDescription } from '../run.ts';

/** The restore procedure in order (spec "Restore procedure"; the spec's eight steps are marked). */
export const RESTORE_STEPS = [
  {
    id: 'verify',
    title: 'Verify the backup set (spec step 1)',
    why: 'a damaged set must be found before anything is stopped or changed',
  },
  {
    id: 'preflight',
    title: 'Check that the service is stopped, version and master key fit and there is room',
    why: 'whatever can be known beforehand must not be learned half way',
  },
  {
    id: 'stage',
    title: 'Decrypt the environment file and unpack the configuration beside their places (spec step 2)',
    why: 'what is put in place later must already lie on the same disk, whole',
  },
  {
    id: 'load',
    title: 'Load the dump into a database beside the live one (spec steps 3 and 4)',
    why: 'the live database stays as it is until its successor is proven',
  },
  {
    id: 'check',
    title: 'Check the loaded database against the manifest',
    why: 'a database that does not open with its key, or misses users, must not go live',
  },
  {
    id: 'swap',
    title: 'Put the database, the environment file and the configuration in place by rename',
    why: 'a rename is there or not; the old state is kept beside until the end',
  },
  {
    id: 'start',
    title: 'Start the service and wait until it is ready (spec step 5)',
    why: 'only a service that answers proves the restore',
  },
  {
    id: 'realms',
    title: 'Check realms and user counts over the administrative API (spec step 6)',
    why: 'the service must see what the backup held',
  },
  {
    id: 'applications',
    title: 'Check the proxy and the applications (spec step 7)',
    why: 'the platform is more than its token service',
  },
  {
    id: 'smoke',
    title: 'Run the smoke tests (spec step 8)',
    why: 'tokens must be given out and hold, not only a process run',
  },
  {
    id: 'finish',
    title: 'Stop the service where only this restore held it, and remove what was kept aside',
    why: 'nothing half-done stays behind for the next procedure to trip over',
  },
] as const satisfies readonly StepDescription[];
