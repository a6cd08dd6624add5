/** A value does not have the type or format that its field requires. */
export class RepresentationFault extends Error {
  override readonly name = 'RepresentationFault';
  /** The JSON path of the value, for example `$.clients[3].redirectUri`. */
  readonly path: string;
  /** Set if the fault is an unknown field. */
  readonly unknown: { field: string; representation: string } | undefined;
  /** The message without the path. */
  readonly what: string;

  constructor(path: string, what: string, unknown?: { field: string; representation: string }) {
    super(`${path}: ${what}`);
    this.path = path;
    this.what = what;
    this.unknown = unknown;
  }
}
