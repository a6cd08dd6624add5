import { Modal, ModalBody, ModalHeader } from '@patternfly/react-core/dist/dynamic/components/Modal';
import { Spinner } from '@patternfly/react-core/dist/dynamic/components/Spinner';
import { TextInput } from '@patternfly/react-core/dist/dynamic/components/TextInput';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type KeyboardEvent, useEffect, useId, useState } from 'react';
import { useLocation } from 'wouter';
import type { AdminApi } from '../api/admin-api.ts';
import { type Found, type FoundKind, findEverything } from '../api/find-everything.ts';
import { useLoadRealms } from '../components/realms.ts';
import { Loaded } from '../components/service-calls.tsx';
import { useApi } from '../components/session.tsx';

const TITLES: Readonly<Record<FoundKind, string>> = {
  realm: 'Realm',
  user: 'User',
  group: 'Group',
  client: 'Client',
  role: 'Role',
};

/** Pause in milliseconds after the last keystroke before the search starts. */
const TYPING_PAUSE = 200;

/** Searches realms, and the users, groups, clients and roles of a realm, by names and ids. */
export function SearchDialog({ realm, onClose }: { realm: string | undefined; onClose: () => void }) {
  const api = useApi();
  const loadRealms = useLoadRealms();
  const [, navigate] = useLocation();
  const list = useId();
  const [typed, setTyped] = useState('');
  const [text, setText] = useState('');
  const [active, setActive] = useState(0);
  useEffect(() => {
    const timer = setTimeout(() => setText(typed.trim()), TYPING_PAUSE);
    return () => clearTimeout(timer);
  }, [typed]);
  const found = useQuery({
    queryKey: ['everything', realm, text],
    // A search that a newer text replaces is aborted, so that its requests do not delay the newer ones.
    queryFn: async ({ signal }) => {
      const get: AdminApi['get'] = (path, query) => api.get(path, query, signal);
      return findEverything({ get }, await loadRealms(), realm, text);
    },
    enabled: text !== '',
    placeholderData: keepPreviousData,
  });
  const results = found.data?.results ?? [];
  const chosen = results[Math.min(active, results.length - 1)];
  const open = (one: Found): void => {
    onClose();
    navigate(one.address);
  };
  const onKey = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && results.length > 0) {
      event.preventDefault();
      setActive((active + step + results.length) % results.length);
    }
    if (event.key === 'Enter' && chosen !== undefined && text === typed.trim()) open(chosen);
  };
  return (
    <Modal
      variant="medium"
      position="top"
      isOpen
      onClose={onClose}
      elementToFocus={`#${list}-input`}
      aria-labelledby={`${list}-title`}
    >
      <ModalHeader
        title={realm === undefined ? 'Search all realms' : `Search realm ${realm}`}
        labelId={`${list}-title`}
        description="Names, e-mail addresses and ids of users, groups, clients and roles, and names of realms"
      />
      <ModalBody>
        <TextInput
          id={`${list}-input`}
          type="search"
          aria-label="Search everything"
          placeholder="Name or id"
          value={typed}
          onChange={(_event, value) => {
            setTyped(value);
            setActive(0);
          }}
          onKeyDown={onKey}
          role="combobox"
          aria-expanded={results.length > 0}
          aria-controls={list}
          aria-activedescendant={chosen === undefined ? undefined : `${list}-${results.indexOf(chosen)}`}
        />
        <div className="search-results" aria-live="polite">
          {text === '' ? null : (
            <Loaded of={found}>
              {({ notes }) => (
                <>
                  {results.length === 0 ? <p className="nothing">Nothing matches “{text}”.</p> : null}
                  <div id={list} role="listbox" aria-label="Results" tabIndex={-1}>
                    {results.map((one, place) => (
                      // biome-ignore lint/a11y/useKeyWithClickEvents: the field above handles the keys
                      <div
                        key={`${one.kind} ${one.address} ${one.title}`}
                        id={`${list}-${place}`}
                        role="option"
                        tabIndex={-1}
                        aria-selected={one === chosen}
                        onMouseMove={() => setActive(place)}
                        onClick={() => open(one)}
                      >
                        <span className="kind">{TITLES[one.kind]}</span>
                        <span className="title">{one.title}</span>
                        <span className="detail">{one.detail}</span>
                      </div>
                    ))}
                  </div>
                  {notes.map((note) => (
                    <p key={note} className="note">
                      {note}
                    </p>
                  ))}
                </>
              )}
            </Loaded>
          )}
          {found.isFetching ? <Spinner size="md" aria-label="Searching" /> : null}
        </div>
      </ModalBody>
    </Modal>
  );
}
