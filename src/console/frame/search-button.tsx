import { Button } from '@patternfly/react-core/dist/dynamic/components/Button';
import { lazy, Suspense, useEffect, useState } from 'react';

const SearchDialog = lazy(async () => ({ default: (await import('./search-dialog.tsx')).SearchDialog }));

/** Opens the search over everything. So does the key `/`, and Ctrl+K. */
export function SearchButton({ realm }: { realm: string | undefined }) {
  const [open, setOpen] = useState(false);
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const withControl = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k';
      if (!withControl && (event.key !== '/' || event.ctrlKey || event.metaKey || isTyping())) return;
      if (document.querySelector('[role=dialog]') !== null) return;
      event.preventDefault();
      setOpen(true);
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  return (
    <>
      <Button
        variant="secondary"
        className="search-button"
        aria-label="Search everything"
        aria-keyshortcuts="/ Control+K"
        icon={<Magnifier />}
        onClick={() => setOpen(true)}
      >
        <span className="search-text">
          Search <kbd>/</kbd>
        </span>
      </Button>
      {open ? (
        <Suspense>
          <SearchDialog realm={realm} onClose={() => setOpen(false)} />
        </Suspense>
      ) : null}
    </>
  );
}

/** Whether the keyboard focus is in a field that accepts text. */
function isTyping(): boolean {
  const focused = document.activeElement;
  return focused instanceof HTMLElement && focused.matches('input, textarea, select, [contenteditable]');
}

function Magnifier() {
  return (
    <svg viewBox="0 0 16 16" width="1em" height="1em" aria-hidden="true">
      <circle cx="6.5" cy="6.5" r="4.5" fill="none" stroke="currentColor" strokeWidth="2" />
      <path d="M10 10l4.5 4.5" stroke="currentColor" strokeWidth="2" strokeLinecap="round" />
    </svg>
  );
}
