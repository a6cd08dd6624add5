import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RouteTimes } from './metrics/request-histogram.ts';
import type { Route } from './route.ts';
import { UrlTree } from './url-tree.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** What answers the request; null where its URL is not in the table. */
    served: ServedUrl | null;
  }
}

/** One method of one URL, ready to answer. */
export interface ServedUrl {
  /** With the names that the parts of the path get. */
  url: string;
  handle(request: FastifyRequest, reply: FastifyReply): unknown;
  /** See `Route`. */
  authorize?: Route['authorize'] | undefined;
  /** Where its answers are counted; health and metrics are not. */
  times?: RouteTimes;
}

/** How a request is answered, and the parts of its path by name. */
export interface FoundServed {
  served: ServedUrl;
  params: Readonly<Record<string, string>>;
}

interface Row {
  methods: readonly Route['method'][];
  serve(method: Route['method']): ServedUrl;
  /** By method, made at the first request. */
  made: Map<Route['method'], { served: ServedUrl; names: readonly string[] }>;
}

/** Every URL of an app. What answers one is made when it is first asked for: a start has no use for most of them. */
export class UrlTable {
  readonly #tree = new UrlTree<Row>((row, method) => methodServed(row, method) !== undefined);

  /** @param serve makes what answers a method of the URL; asked once for each that is requested */
  add(url: string, methods: Row['methods'], serve: Row['serve']): void {
    this.#tree.openPlace(url, () => ({ methods, serve, made: new Map() }));
  }

  /** @throws URIError where a percent escape of the path is broken */
  find(method: string, rawUrl: string): FoundServed | undefined {
    const found = this.#tree.find(method, rawUrl);
    if (found === undefined) return undefined;
    const { entry, values } = found;
    const own = methodServed(entry, method)!;
    let made = entry.made.get(own);
    if (made === undefined) {
      const served = entry.serve(own);
      made = { served, names: namesOf(served.url) };
      entry.made.set(own, made);
    }
    const params: Record<string, string> = {};
    for (let index = 0; index < values.length; index += 1) params[made.names[index]!] = values[index]!;
    return { served: made.served, params };
  }
}

/** The method of the table that answers a request's: itself, or GET for HEAD. */
function methodServed({ methods }: Row, method: string): Route['method'] | undefined {
  for (const own of methods) if (own === method) return own;
  return method === 'HEAD' && methods.includes('GET') ? 'GET' : undefined;
}

/** `realm` and `*` of `/realms/:realm/*`. */
function namesOf(url: string): readonly string[] {
  const segments = url.split('/').filter((segment) => segment === '*' || segment.startsWith(':'));
  return segments.map((segment) => segment.replace(':', ''));
}
