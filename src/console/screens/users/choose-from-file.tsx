import { Alert } from '@patternfly/react-core/dist/dynamic/components/Alert';
import { Button } from '@patternfly/react-core/dist/dynamic/components/Button';
import { FormGroup } from '@patternfly/react-core/dist/dynamic/components/Form';
import { Progress } from '@patternfly/react-core/dist/dynamic/components/Progress';
import { useEffect, useId, useRef, useState } from 'react';
import { path } from '../../api/admin-api.ts';
import type { User } from '../../api/representations.ts';
import { FormDialog } from '../../components/forms.tsx';
import { useChange } from '../../components/service-calls.tsx';
import { useApi } from '../../components/session.tsx';
import { runForEach } from './bulk-run.ts';
import { readUsernames } from './users-of-file.ts';

/** Maximum number of usernames that the dialog lists. */
const LISTED = 50;

/** What the search for the users of a file has found so far. */
interface Search {
  names: readonly string[];
  users: readonly User[];
  missing: readonly string[];
  failed: readonly string[];
}

/** Chooses the users that a file names. Nothing is changed. */
export function ChooseFromFile(props: {
  realm: string;
  onChoose: (users: readonly User[]) => void;
  onClose: () => void;
}) {
  const { realm } = props;
  const api = useApi();
  const field = useId();
  const [search, setSearch] = useState<Search>();
  const [file, setFile] = useState<File>();
  const [fault, setFault] = useState<string>();
  const stopping = useRef(new AbortController());
  useEffect(() => () => stopping.current.abort(), []);
  const find = async (name: string): Promise<User | undefined> => {
    const users = await api.get<readonly User[]>(path`/${realm}/users`, {
      username: name,
      exact: true,
      briefRepresentation: true,
    });
    return users.find(({ username }) => username === name.toLowerCase());
  };
  const start = async (file: File) => {
    stopping.current.abort();
    stopping.current = new AbortController();
    const { signal } = stopping.current;
    setSearch(undefined);
    setFault(undefined);
    try {
      const names = readUsernames(await file.text());
      setSearch({ names, users: [], missing: [], failed: [] });
      const found = new Map<string, User | undefined>();
      await runForEach(
        names,
        async (name) => found.set(name, await find(name)),
        (name, outcome) => {
          if (signal.aborted) return;
          const user = found.get(name);
          setSearch((now) => {
            if (now === undefined) return now;
            if (outcome.state === 'failed')
              return { ...now, failed: [...now.failed, `${name}: ${outcome.reason}`] };
            if (user === undefined) return { ...now, missing: [...now.missing, name] };
            return { ...now, users: [...now.users, user] };
          });
        },
        signal,
      );
    } catch (error) {
      if (!signal.aborted) setFault(error instanceof Error ? error.message : String(error));
    }
  };
  const users = search?.users ?? [];
  const ended = users.length + (search?.missing.length ?? 0) + (search?.failed.length ?? 0);
  const isDone = search !== undefined && ended === search.names.length;
  const change = useChange({ done: `${countOf(users)} chosen`, failed: 'No users were chosen' }, async () =>
    props.onChoose(users),
  );
  return (
    <FormDialog
      title="Choose the users of a file"
      description="A CSV file with a column username, or one username a line. Nothing is changed before you choose an action."
      submit={users.length === 0 ? 'Choose users' : `Choose ${countOf(users)}`}
      size="medium"
      disabled={!isDone || users.length === 0}
      change={change}
      onClose={props.onClose}
    >
      <FormGroup label="File" fieldId={field} isRequired>
        <input
          id={field}
          type="file"
          accept=".csv,.txt,text/csv,text/plain"
          className="file"
          onChange={(event) => {
            const file = event.target.files?.[0];
            setFile(file);
            if (file !== undefined) void start(file);
          }}
        />
      </FormGroup>
      {fault === undefined ? null : <Alert isInline variant="danger" component="p" title={fault} />}
      {search === undefined ? null : (
        <>
          <Progress
            value={ended}
            max={search.names.length}
            measureLocation="outside"
            label={`${ended} of ${search.names.length}`}
            title={isDone ? `${countOf(users)} found` : 'Looking for the users'}
          />
          <Listed title="The realm does not have these users" names={search.missing} />
          <Listed title="The service could not look for these users" names={search.failed} />
          {isDone && search.failed.length > 0 && file !== undefined ? (
            <Button variant="secondary" onClick={() => void start(file)}>
              Look for the users again
            </Button>
          ) : null}
        </>
      )}
    </FormDialog>
  );
}

function Listed({ title, names }: { title: string; names: readonly string[] }) {
  if (names.length === 0) return null;
  const more = names.length - LISTED;
  return (
    <Alert isInline variant="warning" component="p" title={title}>
      <ul>
        {names.slice(0, LISTED).map((name) => (
          <li key={name}>{name}</li>
        ))}
      </ul>
      {more > 0 ? <p>and {more.toLocaleString()} more</p> : null}
    </Alert>
  );
}

const countOf = (users: readonly User[]): string =>
  users.length === 1 ? '1 user' : `${users.length.toLocaleString()} users`;
