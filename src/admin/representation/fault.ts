/** A value that is not the representation it should be, with where and why. */
export class RepresentationFault extends Error {
  override readonly name = 'RepresentationFault';
  /** JSON path, for example `$.clients[3].redirectUri`. */
  readonly path: string;
  /** Set where the fault is a field that the representation does not have. */
  readonly unknown: { field: string; representation: string } | undefined;
  /** What is wrong, without the path. */
  readonly what: string;

  constructor(path: string, what: string, unknown?: { field: string; representation: string }) {
    super(`${path}: ${what}`);
    this.path = path;
    this.what = what;
    this.unknown = unknown;
  }
}
