import { Alert } from '@patternfly/react-core/dist/dynamic/components/Alert';
import {
  DescriptionList,
  DescriptionListDescription,
  DescriptionListGroup,
  DescriptionListTerm,
} from '@patternfly/react-core/dist/dynamic/components/DescriptionList';

/** What the import of a file as a new realm would do. */
export interface RealmPreview {
  realm?: string;
  creates?: Readonly<Record<string, number>>;
  refused: readonly { path: string; what: string }[];
  unenforced: readonly { path: string; what: string; refuses: boolean }[];
}

interface Outcome {
  resourceType: string;
  resourceName: string;
}

/** What the import of a file into an existing realm would do. */
export interface PartialPreview {
  added: number;
  skipped: number;
  overwritten: number;
  results: readonly (Outcome & { action: 'ADDED' | 'SKIPPED' | 'OVERWRITTEN' })[];
  refused: readonly Outcome[];
}

/** Maximum number of records and faults that are listed. */
const LISTED = 50;

const KINDS: Readonly<Record<string, string>> = {
  users: 'Users',
  groups: 'Groups',
  roles: 'Roles',
  clients: 'Clients',
  clientScopes: 'Client scopes',
  components: 'Keys and other components',
  USER: 'User',
  CLIENT: 'Client',
  GROUP: 'Group',
  REALM_ROLE: 'Realm role',
  CLIENT_ROLE: 'Client role',
};

const kindOf = (name: string): string => KINDS[name] ?? name;

export function WholeOutcome({ of }: { of: RealmPreview }) {
  return (
    <section aria-label="What the import does" className="preview">
      {of.refused.length === 0 ? null : (
        <Alert isInline variant="danger" component="p" title="The file cannot be imported">
          <Listed
            items={of.refused.map(({ path, what }) => (
              <>
                <code>{path}</code>: {what}
              </>
            ))}
          />
        </Alert>
      )}
      {of.creates === undefined ? null : (
        <>
          <p>
            Creates realm <strong>{of.realm}</strong> with:
          </p>
          <DescriptionList
            isHorizontal
            isCompact
            horizontalTermWidthModifier={{ default: '7rem', md: '12rem' }}
          >
            {Object.entries(of.creates).map(([kind, count]) => (
              <DescriptionListGroup key={kind}>
                <DescriptionListTerm>{kindOf(kind)}</DescriptionListTerm>
                <DescriptionListDescription>{count.toLocaleString()}</DescriptionListDescription>
              </DescriptionListGroup>
            ))}
          </DescriptionList>
        </>
      )}
      {of.unenforced.length === 0 ? null : (
        <Alert
          isInline
          variant="warning"
          component="p"
          title="idkit does not have all features of this realm"
        >
          <Listed
            items={of.unenforced.map(({ what, refuses }) =>
              refuses ? `${what}: the affected logins are refused` : what,
            )}
          />
        </Alert>
      )}
    </section>
  );
}

export function PartialOutcome({ of }: { of: PartialPreview }) {
  const withAction = (action: string): readonly Outcome[] =>
    of.results.filter((one) => one.action === action);
  const groups = [
    { title: 'Adds', records: withAction('ADDED') },
    { title: 'Replaces', records: withAction('OVERWRITTEN') },
    { title: 'Keeps as they are', records: of.refused.length > 0 ? [] : withAction('SKIPPED') },
  ];
  return (
    <section aria-label="What the import does" className="preview">
      {of.refused.length === 0 ? null : (
        <Alert
          isInline
          variant="danger"
          component="p"
          title="These records exist already, so nothing is imported"
        >
          <Listed items={of.refused.map(renderRecord)} />
        </Alert>
      )}
      {of.results.length === 0 ? (
        <Alert
          isInline
          variant="info"
          component="p"
          title="The file has no users, clients, groups or roles"
        />
      ) : null}
      {groups
        .filter(({ records }) => records.length > 0)
        .map(({ title, records }) => (
          <div key={title}>
            <p>
              {title} ({records.length.toLocaleString()}):
            </p>
            <Listed items={records.map(renderRecord)} />
          </div>
        ))}
    </section>
  );
}

function renderRecord({ resourceType, resourceName }: Outcome): string {
  return `${kindOf(resourceType)} ${resourceName.replace('-->', ': ')}`;
}

function Listed({ items }: { items: readonly (string | React.JSX.Element)[] }) {
  const more = items.length - LISTED;
  return (
    <ul className="listed">
      {items.slice(0, LISTED).map((item, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the list never changes
        <li key={place}>{item}</li>
      ))}
      {more > 0 ? <li>and {more.toLocaleString()} more</li> : null}
    </ul>
  );
}
