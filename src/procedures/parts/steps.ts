import type { StepDescription } from '../runbook.ts';

/** The order in which a platform's parts start (spec "Restore procedure" steps 3, 5 and 7). */
export const UP_STEPS = [
  {
    id: 'database',
    title: 'Start the database and wait until it accepts connections',
    why: 'a service without its database only fills its log with errors',
  },
  {
    id: 'service',
    title: 'Start the service and wait until it is ready',
    why: 'a proxy that leads nowhere answers people with errors',
  },
  {
    id: 'proxy',
    title: 'Start the proxy and ask the service through it',
    why: 'people come through the proxy alone',
  },
  {
    id: 'application',
    title: 'Start the applications and ask each for its health',
    why: 'applications need the service to log people in',
  },
] as const satisfies readonly StepDescription[];

/** The opposite order: nobody is led to a part that is gone. */
export const DOWN_STEPS = [
  { id: 'application', title: 'Stop the applications', why: 'they need everything else' },
  { id: 'proxy', title: 'Stop the proxy', why: 'nobody new comes in while the service ends its work' },
  { id: 'service', title: 'Stop the service', why: 'what it has answered must be in the database' },
  { id: 'database', title: 'Stop the database', why: 'it ends last, with everything written' },
] as const satisfies readonly StepDescription[];
