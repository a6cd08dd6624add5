import { Button } from '@patternfly/react-core/dist/dynamic/components/Button';
import { EmptyState, EmptyStateBody } from '@patternfly/react-core/dist/dynamic/components/EmptyState';
import { Spinner } from '@patternfly/react-core/dist/dynamic/components/Spinner';
import { Title } from '@patternfly/react-core/dist/dynamic/components/Title';
import { Component, type ComponentType, type ReactNode, useEffect, useState } from 'react';
import { Link } from 'wouter';
import { matchAddress, useAddress } from '../address/address.ts';
import { Frame } from '../components/frame.tsx';
import { SCREENS, type ScreenRow } from '../screens/table.ts';

type Params = Readonly<Record<string, string>>;

/** Shows the screen of the current address in the frame. */
export function ScreenHost() {
  const address = useAddress();
  for (const row of SCREENS) {
    const params = matchAddress(row.address, address);
    if (params === undefined) continue;
    const { tab: _tab, ...record } = params;
    return (
      <Frame realm={params['realm']} row={row}>
        {/* Another record of the same kind is another screen, with its own state. */}
        <FaultBoundary key={`${row.address} ${JSON.stringify(record)}`}>
          <LoadedScreen row={row} params={params} />
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

/** The screens whose code has been loaded. */
const loaded = new Map<ScreenRow, ComponentType<Params>>();

/** Loads the code of a screen when it is rendered for the first time. */
function LoadedScreen({ row, params }: { row: ScreenRow; params: Params }) {
  const [attempt, setAttempt] = useState(0);
  const [state, setState] = useState<'loading' | 'loaded' | 'failed'>('loading');
  // biome-ignore lint/correctness/useExhaustiveDependencies: another attempt loads again
  useEffect(() => {
    if (loaded.has(row)) return;
    document.title = `${row.title} · idkit`;
    row.load().then(
      (screen) => {
        loaded.set(row, screen);
        setState('loaded');
      },
      () => setState('failed'),
    );
  }, [row, attempt]);
  const Found = loaded.get(row);
  if (Found !== undefined) return <Found {...params} />;
  if (state !== 'failed')
    return (
      <div className="waiting">
        <Spinner aria-label={`Loading ${row.title}`} />
      </div>
    );
  return (
    <Fault title={`${row.title} could not be loaded`}>
      <p>The service is unreachable, or it was updated since you opened the console.</p>
      <div className="buttons">
        <Button
          onClick={() => {
            setState('loading');
            setAttempt(attempt + 1);
          }}
        >
          Try again
        </Button>
        <Button variant="secondary" onClick={() => location.reload()}>
          Reload the console
        </Button>
      </div>
    </Fault>
  );
}

function Fault(props: { title: string; children: ReactNode }) {
  return (
    <div className="waiting fault">
      <Title headingLevel="h1">{props.title}</Title>
      {props.children}
    </div>
  );
}

/** Shows why a screen failed, with a way on. */
class FaultBoundary extends Component<{ children: ReactNode }, { fault: unknown }> {
  override state: { fault: unknown } = { fault: undefined };

  static getDerivedStateFromError(fault: unknown) {
    return { fault };
  }

  override render(): ReactNode {
    const { fault } = this.state;
    if (fault === undefined) return this.props.children;
    return (
      <Fault title="This screen failed">
        <p>{fault instanceof Error ? fault.message : String(fault)}</p>
        <Button onClick={() => location.reload()}>Reload the console</Button>
      </Fault>
    );
  }
}
