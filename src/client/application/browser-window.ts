/**
 * The parts of a browser's window that a session uses. The library declares them itself, so that it compiles without
 * the DOM types and depends on no other part of a browser.
 */
export interface BrowserWindow {
  readonly location: { readonly href: string; readonly origin: string; assign(url: string): void };
  readonly history: {
    readonly state: unknown;
    replaceState(state: unknown, unused: string, url: string): void;
  };
  readonly sessionStorage: {
    getItem(key: string): string | null;
    setItem(key: string, value: string): void;
    removeItem(key: string): void;
  };
  readonly document: {
    readonly visibilityState: string;
    addEventListener(type: 'visibilitychange', listener: () => void, options: { once: true }): void;
  };
  readonly navigator: { readonly locks: BrowserLocks };
  readonly BroadcastChannel: new (
    name: string,
  ) => {
    onmessage: ((event: { readonly data: unknown }) => void) | null;
    postMessage(message: unknown): void;
    close(): void;
  };
}

interface BrowserLocks {
  request<T>(name: string, options: object, work: () => Promise<T>): Promise<T>;
  query(): Promise<{ readonly held: readonly { readonly name: string }[] }>;
}

/** Returns whether `scope` is a window with Web Locks, which browsers provide in secure contexts only. */
export function isSecureWindow(scope: unknown): scope is BrowserWindow {
  if (typeof scope !== 'object' || scope === null || !('navigator' in scope)) return false;
  const { navigator } = scope;
  return typeof navigator === 'object' && navigator !== null && 'locks' in navigator;
}
