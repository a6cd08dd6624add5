import { Tab, Tabs, TabTitleText } from '@patternfly/react-core/dist/dynamic/components/Tabs';
import type { UseQueryResult } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { Screen } from './frame.tsx';
import { Loaded } from './service-calls.tsx';

export interface RecordTab {
  /** A part of element ids, so it contains no spaces. */
  name: string;
  title: string;
  content: ReactNode;
}

/**
 * The screen of a record with tabs. The first tab is open initially.
 *
 * @param props `label` is the text of the tab list for screen readers
 */
export function RecordScreen<T>(props: {
  realm: string;
  of: UseQueryResult<T>;
  title: (record: T) => string;
  label: string;
  tabs: (record: T) => readonly [RecordTab, ...RecordTab[]];
}) {
  const [chosen, choose] = useState<string | number>();
  return (
    <Loaded of={props.of}>
      {(record) => {
        const tabs = props.tabs(record);
        // A change may remove a tab, such as the secret of a client that has become public.
        const active = tabs.find(({ name }) => name === chosen) ?? tabs[0];
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
