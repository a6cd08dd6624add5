import { Label } from '@patternfly/react-core/dist/dynamic/components/Label';
import { Title } from '@patternfly/react-core/dist/dynamic/components/Title';
import { Table, Tbody, Td, Th, Thead, Tr } from '@patternfly/react-table/dist/dynamic/components/Table';
import { useQuery } from '@tanstack/react-query';
import { path } from '../../api/admin-api.ts';
import type { Realm } from '../../api/representations.ts';
import { Loaded } from '../../components/service-calls.tsx';
import { useAdministration } from '../../components/session.tsx';
import { SettingsForm, type SettingsSection } from '../../components/settings-form.tsx';

/** A theme in `config/themes` of the platform directory. */
interface Theme {
  name: string;
  usable: boolean;
  /** Each problem with its file. */
  problems: readonly string[];
}

function sectionsOf(themes: readonly Theme[]): readonly SettingsSection[] {
  const usable = themes.filter((theme) => theme.usable).map(({ name }) => [name, name] as const);
  return [
    {
      fields: [
        {
          path: 'loginTheme',
          label: 'Theme of the sign-in pages',
          kind: 'choice',
          choices: [['', 'The look of idkit'], ...usable],
          help: 'The logo, colours, texts and links of the pages that people see',
        },
        {
          path: 'accountTheme',
          label: 'Theme of the account pages',
          kind: 'choice',
          choices: [['', 'The same as the sign-in pages'], ...usable],
        },
      ],
    },
  ];
}

/** Chooses the themes of a realm's pages, and lists all themes with their problems and a preview. */
export function Themes(props: { realm: string; record: Realm; readOnly: boolean }) {
  const { api, place } = useAdministration();
  const themes = useQuery({
    queryKey: ['themes', props.realm],
    queryFn: () => api.get<readonly Theme[]>(path`/${props.realm}/themes`),
  });
  return (
    <Loaded of={themes}>
      {(found) => (
        <>
          <SettingsForm
            record={props.record}
            sections={sectionsOf(found)}
            readOnly={props.readOnly}
            notice={{ done: 'The themes were saved', failed: 'The themes were not saved' }}
            save={(changed) => api.send('PUT', path`/${props.realm}`, changed)}
          />
          <section className="further" aria-labelledby="themes">
            <Title headingLevel="h2" size="lg" id="themes">
              Themes of this platform
            </Title>
            {found.length === 0 ? (
              <p>
                There are no themes. A theme is a directory in <code>config/themes/</code> of the platform
                directory, with a logo, colours, texts and links.
              </p>
            ) : (
              <ThemeTable
                themes={found}
                previewOf={(name) =>
                  place.baseUrl + path`/realms/${place.realm}/theme-preview/${props.realm}/${name}`
                }
              />
            )}
          </section>
        </>
      )}
    </Loaded>
  );
}

function ThemeTable(props: { themes: readonly Theme[]; previewOf: (name: string) => string }) {
  return (
    <Table aria-label="Themes of this platform" variant="compact">
      <Thead>
        <Tr>
          <Th>Theme</Th>
          <Th>State</Th>
          <Th>Problems</Th>
          <Th screenReaderText="Actions" />
        </Tr>
      </Thead>
      <Tbody>
        {props.themes.map(({ name, usable, problems }) => (
          <Tr key={name}>
            <Td dataLabel="Theme" modifier="breakWord">
              {name}
            </Td>
            <Td dataLabel="State">
              {usable ? <Label color="green">Usable</Label> : <Label color="red">Not used</Label>}
            </Td>
            <Td dataLabel="Problems" modifier="breakWord">
              {problems.map((problem) => (
                <p key={problem}>{problem}</p>
              ))}
            </Td>
            <Td>
              <a
                href={props.previewOf(name)}
                target="_blank"
                rel="noreferrer"
                aria-label={`Preview of theme ${name}, in a new tab`}
              >
                Preview
              </a>
            </Td>
          </Tr>
        ))}
      </Tbody>
    </Table>
  );
}
