import { Tab, Tabs, TabTitleText } from '@patternfly/react-core/dist/dynamic/components/Tabs';
import type { UseQueryResult } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { Loaded } from './act.tsx';
import { Screen } from './frame.tsx';

/** One side of a record. */
export interface RecordTab {
  /** Part of ids in the page: no spaces. */
  name: string;
  title: string;
  content: ReactNode;
}

/**
 * One record, of which a tab is shown at a time.
 *
 * @param props `label`: what the tabs are of, for a screen reader; `tabs`: the first one is shown first
 */
export function RecordScreen<T>(props: {
  realm: string;
  of: UseQueryResult<T>;
  title: (record: T) => string;
  label: string;
  tabs: (record: T) => readonly RecordTab[];
}) {
  const [chosen, choose] = useState<string | number>();
  return (
    <Loaded of={props.of}>
      {(record) => {
        const tabs = props.tabs(record);
        // A tab may be gone after a change, such as the secret of a client that is public now.
        const active = tabs.find(({ name }) => name === chosen) ?? tabs[0]!;
        return (
          <Screen title={props.title(record)} realm={props.realm}>
            <Tabs
              aria-label={props.label}
              activeKey={active.name}
              onSelect={(_event, key) => choose(key)}
              mountOnEnter
              unmountOnExit
            >
              {tabs.map(({ name, title, content }) => (
                <Tab key={name} eventKey={name} title={<TabTitleText>{title}</TabTitleText>}>
                  {content}
                </Tab>
              ))}
            </Tabs>
          </Screen>
        );
      }}
    </Loaded>
  );
}
