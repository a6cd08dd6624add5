/** The part of a browser's window that a session needs. The explicit type shows that it uses nothing else. */
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
