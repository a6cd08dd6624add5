import { Button } from '@patternfly/react-core/dist/dynamic/components/Button';
import { EmptyState, EmptyStateBody } from '@patternfly/react-core/dist/dynamic/components/EmptyState';
import { SearchInput } from '@patternfly/react-core/dist/dynamic/components/SearchInput';
import { Toolbar, ToolbarContent, ToolbarItem } from '@patternfly/react-core/dist/dynamic/components/Toolbar';
import { Table, Tbody, Td, Th, Thead, Tr } from '@patternfly/react-table/dist/dynamic/components/Table';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import { Loaded } from './act.tsx';

/** One column: its heading and what stands in a row. */
export interface Column<Row> {
  /** Empty where the rows' buttons stand. */
  title: string;
  cell: (row: Row) => ReactNode;
}

/** Rows asked for at once. */
export const PAGE = 20;
/** Milliseconds without a key stroke before a search is sent. */
const TYPING_PAUSE = 250;

/**
 * A list that is never read as a whole: one page and one row more is asked for, so that a list of any length is as
 * quick as a short one.
 */
export function PagedTable<Row>(props: {
  label: string;
  /** Names the question for the cache. */
  name: readonly string[];
  columns: readonly Column<Row>[];
  rowKey: (row: Row) => string;
  list: (asked: { search: string; first: number; max: number }) => Promise<readonly Row[]>;
  searchLabel?: string;
  empty: string;
  actions?: ReactNode;
}) {
  const [typed, setTyped] = useState('');
  const [asked, setAsked] = useState({ search: '', first: 0 });
  useEffect(() => {
    const timer = setTimeout(
      () => setAsked((before) => (before.search === typed ? before : { search: typed, first: 0 })),
      TYPING_PAUSE,
    );
    return () => clearTimeout(timer);
  }, [typed]);
  const rows = useQuery({
    queryKey: [...props.name, asked],
    queryFn: () => props.list({ ...asked, max: PAGE + 1 }),
    placeholderData: keepPreviousData,
  });
  return (
    <>
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
          {props.actions === undefined ? null : <ToolbarItem>{props.actions}</ToolbarItem>}
          <ToolbarItem align={{ default: 'alignEnd' }}>
            <Pager
              first={asked.first}
              more={(rows.data?.length ?? 0) > PAGE}
              onTurn={(first) => setAsked({ ...asked, first })}
              label={props.label}
            />
          </ToolbarItem>
        </ToolbarContent>
      </Toolbar>
      <Loaded of={rows}>
        {(found) =>
          found.length === 0 ? (
            <EmptyState titleText={props.empty} headingLevel="h2">
              {asked.search === '' ? null : (
                <EmptyStateBody>Nothing matches “{asked.search}”.</EmptyStateBody>
              )}
            </EmptyState>
          ) : (
            <Table aria-label={props.label} variant="compact">
              <Thead>
                <Tr>
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
                {found.slice(0, PAGE).map((row) => (
                  <Tr key={props.rowKey(row)}>
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

/** A moment as people of the browser's language write it; a dash where there is none. */
export function formatTime(milliseconds: number | undefined): string {
  if (milliseconds === undefined || milliseconds === 0) return '–';
  return new Date(milliseconds).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
}
