import { Button } from '@patternfly/react-core/dist/dynamic/components/Button';
import { EmptyState, EmptyStateBody } from '@patternfly/react-core/dist/dynamic/components/EmptyState';
import { Spinner } from '@patternfly/react-core/dist/dynamic/components/Spinner';
import { Title } from '@patternfly/react-core/dist/dynamic/components/Title';
import { Component, lazy, type ReactNode, Suspense, useEffect } from 'react';
import { Link } from 'wouter';
import { matchAddress, useAddress } from '../address/address.ts';
import { Frame } from '../components/frame.tsx';
import { SCREENS, type ScreenRow } from '../screens/table.ts';

/** The screens with components that load their code when they are rendered for the first time. */
const HOSTED = SCREENS.map((row) => ({ row, Loaded: lazy(async () => ({ default: await row.load() })) }));

/** Shows the screen of the current address in the frame. */
export function ScreenHost() {
  const address = useAddress();
  for (const { row, Loaded } of HOSTED) {
    const params = matchAddress(row.address, address);
    if (params === undefined) continue;
    const { tab: _tab, ...record } = params;
    return (
      <Frame realm={params['realm']} row={row}>
        {/* Another record of the same kind is another screen, with its own state. */}
        <FaultBoundary key={`${row.address} ${JSON.stringify(record)}`}>
          <Suspense fallback={<Waiting row={row} />}>
            <Loaded {...params} />
          </Suspense>
        </FaultBoundary>
      </Frame>
    );
  }
  return (
    <Frame>
      <EmptyState titleText="This page does not exist" headingLevel="h1">
        <EmptyStateBody>
          The address may be incomplete. <Link href="/">Show all realms</Link>
        </EmptyStateBody>
      </EmptyState>
    </Frame>
  );
}

function Waiting({ row }: { row: ScreenRow }) {
  useEffect(() => {
    document.title = `${row.title} · idkit`;
  }, [row]);
  return (
    <div className="waiting">
      <Spinner aria-label={`Loading ${row.title}`} />
    </div>
  );
}

/** Shows why a screen cannot be shown, with a way on. */
class FaultBoundary extends Component<{ children: ReactNode }, { fault: unknown }> {
  override state: { fault: unknown } = { fault: undefined };

  static getDerivedStateFromError(fault: unknown) {
    return { fault };
  }

  override render(): ReactNode {
    const { fault } = this.state;
    if (fault === undefined) return this.props.children;
    // Browsers report a module that could not be fetched as a TypeError, and differ in its text.
    const title =
      fault instanceof TypeError && /import|module|fetch/i.test(fault.message)
        ? 'This screen could not be loaded: the service is unreachable, or it was updated since you opened the console'
        : `This screen failed: ${fault instanceof Error ? fault.message : String(fault)}`;
    return (
      <div className="waiting">
        <Title headingLevel="h1">{title}</Title>
        <Button onClick={() => location.reload()}>Reload the console</Button>
      </div>
    );
  }
}
