import { address } from '../address/address.ts';
import type { ScreenRow } from '../screens/table.ts';

/** Returns the address of a screen without its optional parameters. */
export function addressOf(row: ScreenRow, realm: string | undefined): string {
  const path = withoutOptional(row.address);
  return realm === undefined ? path : path.replace('/:realm', () => address`/${realm}`);
}

/** Whether a screen belongs to an entry of the navigation, as a user belongs to the users. */
export function isBelow(row: ScreenRow, entry: ScreenRow): boolean {
  const path = withoutOptional(entry.address);
  return row === entry || (path !== '/' && row.address.startsWith(`${path}/`));
}

function withoutOptional(pattern: string): string {
  return pattern.replace(/\/:\w+\?$/, '');
}
