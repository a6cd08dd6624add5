import { Tab, Tabs, TabTitleText } from '@patternfly/react-core/dist/dynamic/components/Tabs';
import type { UseQueryResult } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef } from 'react';
import { useLocation } from 'wouter';
import { readAddress } from '../address/address.ts';
import { Screen } from './frame.tsx';
import { Loaded } from './service-calls.tsx';

export interface RecordTab {
  /** The last segment of the address, and a part of element ids. */
  name: string;
  title: string;
  content: ReactNode;
}

/**
 * The screen of a record with tabs. The open tab is in the address.
 *
 * @param props `label` is the text of the tab list for screen readers; `tab` is the tab in the address. Default: the
 *   first tab. `base` is the address of the first tab, built with `address`.
 */
export function RecordScreen<T>(props: {
  realm: string;
  of: UseQueryResult<T>;
  title: (record: T) => string;
  label: string;
  base: string;
  tab: string | undefined;
  actions?: (record: T) => ReactNode;
  tabs: (record: T) => readonly [RecordTab, ...RecordTab[]];
}) {
  return (
    <Loaded of={props.of}>
      {(record) => (
        <Screen title={props.title(record)} realm={props.realm} actions={props.actions?.(record)}>
          <AddressTabs label={props.label} base={props.base} tab={props.tab} tabs={props.tabs(record)} />
        </Screen>
      )}
    </Loaded>
  );
}

/** Tabs whose open tab is in the address, so that it can be sent, and Back returns to it. */
export function AddressTabs(props: {
  label: string;
  base: string;
  tab: string | undefined;
  tabs: readonly [RecordTab, ...RecordTab[]];
}) {
  const { tabs, base } = props;
  const [, navigate] = useLocation();
  // A change may remove a tab, such as the secret of a client that has become public.
  const active = tabs.find(({ name }) => name === props.tab) ?? tabs[0];
  const list = useRef<HTMLDivElement>(null);
  // On a phone, the open tab may be beyond the edge.
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when another tab is open
  useEffect(() => {
    const current = list.current?.querySelector('.pf-v6-c-tabs__item.pf-m-current');
    current?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, [active.name]);
  return (
    <div ref={list}>
      <Tabs
        aria-label={props.label}
        activeKey={active.name}
        onSelect={(_event, key) => {
          const to = key === tabs[0].name ? base : `${base}/${key}`;
          if (to !== readAddress()) navigate(to);
        }}
        mountOnEnter
        unmountOnExit
      >
        {tabs.map(({ name, title, content }) => (
          <Tab key={name} eventKey={name} title={<TabTitleText>{title}</TabTitleText>}>
            {content}
          </Tab>
        ))}
      </Tabs>
    </div>
  );
}
