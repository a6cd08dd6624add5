import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Loaded } from './service-calls.tsx';

/** Renders the pages of a query as `Loaded` renders the result of a single one. */
export function LoadedPages<Page>(props: {
  of: UseInfiniteQueryResult<InfiniteData<Page>>;
  children: (pages: readonly Page[]) => ReactNode;
}): ReactNode {
  return <Loaded of={props.of}>{(data) => props.children(data.pages)}</Loaded>;
}
