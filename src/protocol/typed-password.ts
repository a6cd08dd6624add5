import { isPasswordTooLong } from '../model/index.ts';

/**
 * A password as a form brings it to a login. One that is longer than any can be is a wrong guess, as an empty one is:
 * it is counted and answered as such, and nobody keeps it until its hash would be due.
 */
export function typedPassword(given: string | undefined): string {
  return given === undefined || isPasswordTooLong(given) ? '' : given;
}
