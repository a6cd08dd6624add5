import { IdkitError } from '../core/index.ts';

/** The refusal of a procedure that needs the service stopped, with how to stop it. */
export function serviceRuns(address: string): IdkitError {
  return new IdkitError(
    'IDKIT_SERVICE_RUNNING',
    `the service runs at ${address}, and it must be stopped for this`,
    {
      hints: [
        'end idkit serve with Ctrl-C in its terminal, or stop its unit: systemctl stop idkit',
        'in containers: docker compose stop idkit, and idkit up afterwards',
      ],
    },
  );
}
