import { useEffect, useState } from 'react';

/** Pause in milliseconds after the last keystroke. */
const PAUSE = 250;

/** Returns the text as it was when the user last paused, so that a search does not start with each keystroke. */
export function useTypingPause(typed: string): string {
  const [settled, settle] = useState(typed);
  useEffect(() => {
    const timer = setTimeout(() => settle(typed), PAUSE);
    return () => clearTimeout(timer);
  }, [typed]);
  return settled;
}
