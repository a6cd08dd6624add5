import { useSyncExternalStore } from 'react';
import type { BaseLocationHook } from 'wouter';

// The address of a screen is the part of the URL after `#`, such as `#/garden/users?search=rose`. Everything that a
// screen shows follows from it, so an address can be sent to another administrator.

/** Asks the user whether to leave the screen, and calls `leave` if the answer is yes. */
export type LeaveGuard = (leave: () => void) => void;

export interface NavigateOptions {
  /** Replaces the current entry of the browser's history. Default: adds one. */
  replace?: boolean;
}

const listeners = new Set<() => void>();
let guard: LeaveGuard | undefined;
/** The hash of the screen that is shown. */
let shown = location.hash;
/** The hash that the screens still see while the browser moves back to it. */
let pinned: string | undefined;
/** The position in the history, so that a guarded step back can be undone. */
let index = indexOf(history.state) ?? 0;
/** True while the next `popstate` is one that this module caused. */
let expected = false;

/** Returns the position that an entry of the history has recorded. */
function indexOf(state: unknown): number | undefined {
  return typeof state === 'object' && state !== null && 'index' in state ? Number(state.index) : undefined;
}

/** Records the position of the current entry, such as the first one, so that a step back to it is recognized. */
function recordIndex(): void {
  if (indexOf(history.state) === undefined) history.replaceState({ index }, '');
}

function notify(): void {
  shown = location.hash;
  for (const listener of listeners) listener();
}

/** Returns the current address, for example `/garden/users?search=rose`. */
export function readAddress(): string {
  return `/${(pinned ?? location.hash).replace(/^#?\/?/, '')}`;
}

function pathOf(address: string): string {
  return address.split('?', 1)[0]!;
}

/** Navigates without asking, for example after a change was saved. */
export function leaveTo(to: string, { replace = false }: NavigateOptions = {}): void {
  pinned = undefined;
  recordIndex();
  if (!replace) index += 1;
  history[replace ? 'replaceState' : 'pushState']({ index }, '', `#${to}`);
  notify();
}

/** Navigates. If the screen has unsaved changes, the user is asked first. */
export function navigate(to: string, options?: NavigateOptions): void {
  if (guard !== undefined && pathOf(to) !== pathOf(readAddress())) guard(() => leaveTo(to, options));
  else leaveTo(to, options);
}

/** Guards the screen until the returned function is called. The last guard counts. */
export function guardScreen(ask: LeaveGuard): () => void {
  guard = ask;
  shown = location.hash;
  recordIndex();
  return () => {
    if (guard === ask) guard = undefined;
  };
}

function onPopState(event: PopStateEvent): void {
  const arrived = indexOf(event.state);
  if (expected) {
    expected = false;
    pinned = undefined;
    if (arrived !== undefined) index = arrived;
    notify();
    return;
  }
  const next = location.hash;
  const step = arrived === undefined ? 1 : arrived - index;
  if (guard === undefined || pathOf(next) === pathOf(shown) || step === 0) {
    // An address that was typed or followed as a plain link has no position yet.
    index = arrived ?? index + 1;
    recordIndex();
    notify();
    return;
  }
  // The browser has moved already. Move back, and ask.
  pinned = shown;
  expected = true;
  history.go(-step);
  guard(() => {
    if (arrived === undefined) {
      leaveTo(next.replace(/^#/, ''));
      return;
    }
    expected = true;
    history.go(step);
  });
}

function subscribe(listener: () => void): () => void {
  if (listeners.size === 0) addEventListener('popstate', onPopState);
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) removeEventListener('popstate', onPopState);
  };
}

/** Returns the current address and renders again when it changes. */
export function useAddress(): string {
  return useSyncExternalStore(subscribe, readAddress);
}

/** The location hook of wouter's Router. Its links and `useLocation` then use the addresses of this module. */
export const useHashAddress: BaseLocationHook = Object.assign(
  (): [string, typeof navigate] => [pathOf(useAddress()), navigate],
  { hrefs: (to: string) => `#${to}` },
);

/**
 * Returns the parameters after `?` in the address, and a function that changes some of them. A parameter that is set to
 * an empty text is removed. The changes replace the entry of the history, so that each keystroke in a search does not
 * add one.
 */
export function useAddressQuery(): readonly [
  URLSearchParams,
  (changes: Readonly<Record<string, string>>) => void,
] {
  const [path = '', search = ''] = useAddress().split('?', 2);
  const change = (changes: Readonly<Record<string, string>>): void => {
    const [now = path, query = ''] = readAddress().split('?', 2);
    const next = new URLSearchParams(query);
    for (const [name, value] of Object.entries(changes)) {
      if (value === '') next.delete(name);
      else next.set(name, value);
    }
    navigate(next.size === 0 ? now : `${now}?${next}`, { replace: true });
  };
  return [new URLSearchParams(search), change];
}

/** Returns the parameters of an address that fits a pattern such as `/:realm/users/:id/:tab?`. */
export function matchAddress(pattern: string, address: string): Readonly<Record<string, string>> | undefined {
  const wanted = pattern.split('/');
  const given = pathOf(address)
    .replace(/(?<=.)\/$/, '')
    .split('/');
  if (given.length > wanted.length) return undefined;
  const found: Record<string, string> = {};
  for (const [place, segment] of wanted.entries()) {
    const value = given[place];
    const [, name, optional] = /^:(\w+)(\??)$/.exec(segment) ?? [];
    if (name === undefined) {
      if (value !== segment) return undefined;
    } else if (value === undefined || value === '') {
      if (optional === '') return undefined;
    } else {
      const decoded = decode(value);
      if (decoded === undefined) return undefined;
      found[name] = decoded;
    }
  }
  return found;
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** Builds an address from segments that are data: `` address`/${realm}/users/${id}` ``. */
export function address(strings: TemplateStringsArray, ...values: readonly string[]): string {
  return strings.reduce((all, text, place) => all + encodeURIComponent(values[place - 1] ?? '') + text);
}
