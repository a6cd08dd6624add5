import { Button } from '@patternfly/react-core/dist/dynamic/components/Button';
import { Checkbox } from '@patternfly/react-core/dist/dynamic/components/Checkbox';
import {
  EmptyState,
  EmptyStateActions,
  EmptyStateBody,
  EmptyStateFooter,
} from '@patternfly/react-core/dist/dynamic/components/EmptyState';
import { SearchInput } from '@patternfly/react-core/dist/dynamic/components/SearchInput';
import { Toolbar, ToolbarContent, ToolbarItem } from '@patternfly/react-core/dist/dynamic/components/Toolbar';
import { Table, Tbody, Td, Th, Thead, Tr } from '@patternfly/react-table/dist/dynamic/components/Table';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import { useAddressQuery } from '../address/address.ts';
import { Loaded } from './service-calls.tsx';

export interface Column<Row> {
  /** The heading. Empty for the column of buttons. */
  title: string;
  cell: (row: Row) => ReactNode;
}

/** The chosen rows by their keys. */
export interface Selection<Row> {
  chosen: ReadonlyMap<string, Row>;
  onChoose: (chosen: ReadonlyMap<string, Row>) => void;
  /** The name of a row for screen readers. */
  nameOf: (row: Row) => string;
}

/** Rows per page. */
export const PAGE = 20;
/** Pause in milliseconds after the last keystroke before a search starts. */
const TYPING_PAUSE = 250;

/** The part of a list that is shown. */
interface Shown {
  search: string;
  first: number;
}

/**
 * A list with pages. It loads one row more than a page, to find out whether there is another page. It never loads the
 * whole list, so a long list is as fast as a short list.
 */
export function PagedTable<Row>(props: {
  label: string;
  /** The key of the query in the cache. */
  name: readonly string[];
  columns: readonly Column<Row>[];
  rowKey: (row: Row) => string;
  list: (query: { search: string; first: number; max: number }) => Promise<readonly Row[]>;
  searchLabel?: string;
  empty: string;
  /** What an empty list means and what to do, if no search excludes rows. */
  emptyHelp?: ReactNode;
  actions?: ReactNode;
  /** Adds a column of check boxes. Rows of other pages stay chosen. */
  selection?: Selection<Row>;
  /** Filters next to the search. Their values belong into `name`, so that a change starts at the first page. */
  filters?: ReactNode;
  /** Whether the search and the page are in the address of the screen, so that they can be sent. Default: false. */
  inAddress?: boolean;
}) {
  const [shown, show] = useShown(props.inAddress === true, JSON.stringify(props.name));
  const [typed, setTyped] = useState(shown.search);
  const [known, setKnown] = useState(shown.search);
  // Back and Forward change the address without the field.
  if (known !== shown.search) {
    setKnown(shown.search);
    setTyped(shown.search);
  }
  useEffect(() => {
    if (typed === known) return undefined;
    const timer = setTimeout(() => {
      setKnown(typed);
      show({ search: typed, first: 0 });
    }, TYPING_PAUSE);
    return () => clearTimeout(timer);
  });
  const rows = useQuery({
    queryKey: [...props.name, shown],
    queryFn: () => props.list({ ...shown, max: PAGE + 1 }),
    placeholderData: keepPreviousData,
  });
  const more = (rows.data?.length ?? 0) > PAGE;
  return (
    <>
      {props.searchLabel === undefined &&
      props.filters === undefined &&
      props.actions === undefined &&
      shown.first === 0 &&
      !more ? null : (
        <Toolbar>
          <ToolbarContent>
            {props.searchLabel === undefined ? null : (
              <ToolbarItem className="search">
                <SearchInput
                  aria-label={props.searchLabel}
                  placeholder={props.searchLabel}
                  value={typed}
                  onChange={(_event, value) => setTyped(value)}
                  onClear={() => setTyped('')}
                />
              </ToolbarItem>
            )}
            {props.filters === undefined ? null : <ToolbarItem>{props.filters}</ToolbarItem>}
            {props.actions === undefined ? null : <ToolbarItem>{props.actions}</ToolbarItem>}
            <ToolbarItem align={{ default: 'alignEnd' }}>
              <Pager
                first={shown.first}
                more={more}
                onTurn={(first) => show({ ...shown, first })}
                label={props.label}
              />
            </ToolbarItem>
          </ToolbarContent>
        </Toolbar>
      )}
      <Loaded of={rows}>
        {(loaded) =>
          loaded.length === 0 && shown.first > 0 ? (
            <EmptyState titleText="This page is empty now" headingLevel="h2">
              <EmptyStateBody>The list has become shorter.</EmptyStateBody>
              <EmptyStateFooter>
                <EmptyStateActions>
                  <Button variant="link" onClick={() => show({ ...shown, first: 0 })}>
                    Go to the first page
                  </Button>
                </EmptyStateActions>
              </EmptyStateFooter>
            </EmptyState>
          ) : loaded.length === 0 ? (
            <EmptyState titleText={props.empty} headingLevel="h2">
              {shown.search === '' ? (
                props.emptyHelp === undefined ? null : (
                  <EmptyStateBody>{props.emptyHelp}</EmptyStateBody>
                )
              ) : (
                <>
                  <EmptyStateBody>Nothing matches “{shown.search}”.</EmptyStateBody>
                  <EmptyStateFooter>
                    <EmptyStateActions>
                      <Button variant="link" onClick={() => setTyped('')}>
                        Clear the search
                      </Button>
                    </EmptyStateActions>
                  </EmptyStateFooter>
                </>
              )}
            </EmptyState>
          ) : (
            <Table aria-label={props.label} variant="compact">
              <Thead>
                <Tr>
                  {props.selection === undefined ? null : (
                    <Th modifier="fitContent">
                      <ChooseRows
                        id={`${props.label}-all`}
                        label="Choose all rows of this page"
                        rows={loaded.slice(0, PAGE)}
                        rowKey={props.rowKey}
                        selection={props.selection}
                      />
                    </Th>
                  )}
                  {props.columns.map(({ title }) =>
                    title === '' ? (
                      <Th key={title} screenReaderText="Actions" />
                    ) : (
                      <Th key={title} modifier="nowrap">
                        {title}
                      </Th>
                    ),
                  )}
                </Tr>
              </Thead>
              <Tbody>
                {loaded.slice(0, PAGE).map((row) => (
                  <Tr key={props.rowKey(row)}>
                    {props.selection === undefined ? null : (
                      <Td modifier="fitContent">
                        <ChooseRows
                          id={`${props.label}-${props.rowKey(row)}`}
                          label={`Choose ${props.selection.nameOf(row)}`}
                          rows={[row]}
                          rowKey={props.rowKey}
                          selection={props.selection}
                        />
                      </Td>
                    )}
                    {props.columns.map((column) => (
                      <Td key={column.title} dataLabel={column.title} modifier="breakWord">
                        {column.cell(row)}
                      </Td>
                    ))}
                  </Tr>
                ))}
              </Tbody>
            </Table>
          )
        }
      </Loaded>
    </>
  );
}

/** A check box for one or several rows. */
function ChooseRows<Row>(props: {
  id: string;
  label: string;
  rows: readonly Row[];
  rowKey: (row: Row) => string;
  selection: Selection<Row>;
}) {
  const { chosen, onChoose } = props.selection;
  return (
    <Checkbox
      id={props.id}
      aria-label={props.label}
      isChecked={props.rows.every((row) => chosen.has(props.rowKey(row)))}
      onChange={(_event, checked) => {
        const next = new Map(chosen);
        for (const row of props.rows) {
          if (checked) next.set(props.rowKey(row), row);
          else next.delete(props.rowKey(row));
        }
        onChoose(next);
      }}
    />
  );
}

function Pager(props: { first: number; more: boolean; onTurn: (first: number) => void; label: string }) {
  if (props.first === 0 && !props.more) return null;
  return (
    <>
      <Button
        variant="secondary"
        aria-label={`Previous page of ${props.label}`}
        isDisabled={props.first === 0}
        onClick={() => props.onTurn(Math.max(0, props.first - PAGE))}
      >
        Previous
      </Button>{' '}
      <span>{props.first / PAGE + 1}</span>{' '}
      <Button
        variant="secondary"
        aria-label={`Next page of ${props.label}`}
        isDisabled={!props.more}
        onClick={() => props.onTurn(props.first + PAGE)}
      >
        Next
      </Button>
    </>
  );
}

/** Formats a time in the browser's language. Returns a dash if the time is missing. */
export function formatTime(milliseconds: number | undefined): string {
  if (milliseconds === undefined || milliseconds === 0) return '–';
  return new Date(milliseconds).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
}

/** Keeps the search and the page in the address, or in the component. In the component, a new `name` starts at page 1. */
function useShown(inAddress: boolean, name: string): readonly [Shown, (shown: Shown) => void] {
  const [query, change] = useAddressQuery();
  const [own, setOwn] = useState<Shown & { name: string }>({ search: '', first: 0, name });
  if (!inAddress)
    return [
      { search: own.search, first: own.name === name ? own.first : 0 },
      (shown) => setOwn({ ...shown, name }),
    ];
  const page = Number(query.get('page') ?? 1);
  return [
    {
      search: query.get('search') ?? '',
      first: Number.isSafeInteger(page) && page > 1 ? (page - 1) * PAGE : 0,
    },
    ({ search, first }) => change({ search, page: first === 0 ? '' : String(first / PAGE + 1) }),
  ];
}
