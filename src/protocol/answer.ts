/** What an endpoint answers when it does not refuse. */
export interface Answer<Body> {
  body: Body;
  /** The origin whose pages may read the answer; absent where none was sent. */
  allowOrigin?: string | undefined;
}
