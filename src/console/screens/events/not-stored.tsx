import { Link } from 'wouter';
import { address } from '../../address/address.ts';

/** What to do if a realm stores no events. */
export function NotStored({ realm }: { realm: string }) {
  return (
    <>
      The <Link href={address`/${realm}/settings/events`}>realm settings</Link> say which events are stored,
      and for how long.
    </>
  );
}
