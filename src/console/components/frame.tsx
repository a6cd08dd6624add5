import {
  Masthead,
  MastheadBrand,
  MastheadContent,
  MastheadMain,
  MastheadToggle,
} from '@patternfly/react-core/dist/dynamic/components/Masthead';
import { Nav, NavGroup, NavItem, NavList } from '@patternfly/react-core/dist/dynamic/components/Nav';
import {
  Page,
  PageSection,
  PageSidebar,
  PageSidebarBody,
  PageToggleButton,
} from '@patternfly/react-core/dist/dynamic/components/Page';
import { SkipToContent } from '@patternfly/react-core/dist/dynamic/components/SkipToContent';
import { Title } from '@patternfly/react-core/dist/dynamic/components/Title';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { Link } from 'wouter';
import { useAddress } from '../address/address.ts';
import { RealmSwitcher } from '../frame/realm-switcher.tsx';
import { addressOf, isBelow } from '../frame/screen-address.ts';
import { SearchButton } from '../frame/search-button.tsx';
import { UserMenu } from '../frame/user-menu.tsx';
import { SCREENS, type ScreenRow } from '../screens/table.ts';
import { useRights } from './rights.tsx';

/** Whether the navigation fits next to the content (PatternFly's breakpoint). */
const isWide = (): boolean => matchMedia('(min-width: 75rem)').matches;

/** The frame of every screen: the header and the navigation. `row` is the screen that is shown. */
export function Frame(props: { realm?: string | undefined; row?: ScreenRow; children: ReactNode }) {
  const [path] = useAddress().split('?', 1);
  const [open, setOpen] = useState(isWide);
  // On a narrow screen the open navigation would cover the new screen.
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when the screen changes
  useEffect(() => setOpen(isWide), [path]);
  return (
    <Page
      mainContainerId="main"
      skipToContent={
        <SkipToContent href="#main" onClick={skipToMain}>
          Skip to content
        </SkipToContent>
      }
      masthead={
        <Masthead display={{ default: 'inline' }}>
          <MastheadMain>
            <MastheadToggle>
              <PageToggleButton
                isHamburgerButton
                aria-label="Navigation"
                isSidebarOpen={open}
                onSidebarToggle={() => setOpen(!open)}
              />
            </MastheadToggle>
            <MastheadBrand>
              <Link href="/" className="brand">
                idkit
              </Link>
            </MastheadBrand>
          </MastheadMain>
          <MastheadContent>
            <div className="masthead-tools">
              <RealmSwitcher realm={props.realm} row={props.row} />
              <SearchButton realm={props.realm} />
              <UserMenu />
            </div>
          </MastheadContent>
        </Masthead>
      }
      sidebar={
        <PageSidebar isSidebarOpen={open}>
          <PageSidebarBody>
            <Nav aria-label="Console">
              <Navigation realm={props.realm} row={props.row} />
            </Nav>
          </PageSidebarBody>
        </PageSidebar>
      }
    >
      {props.children}
    </Page>
  );
}

/** The address after `#` is that of the screen, so the link must not change it. */
function skipToMain(event: { preventDefault(): void }): void {
  event.preventDefault();
  document.getElementById('main')?.focus();
}

function Navigation(props: { realm: string | undefined; row: ScreenRow | undefined }) {
  const { realm, row } = props;
  const rights = useRights(realm);
  const list = (group: ScreenRow['group']) =>
    SCREENS.filter((one) => one.group === group && rights.mayOpen(one)).map((one) => {
      const href = addressOf(one, realm);
      return (
        <NavItem key={one.address} isActive={row !== undefined && isBelow(row, one)}>
          <Link href={href} aria-current={row !== undefined && isBelow(row, one) ? 'page' : undefined}>
            {one.title}
          </Link>
        </NavItem>
      );
    });
  return (
    <>
      <NavList>{list('service')}</NavList>
      {realm === undefined ? null : (
        <>
          <NavGroup title={realm}>{list('realm')}</NavGroup>
          <NavGroup title="Configure">{list('configure')}</NavGroup>
        </>
      )}
    </>
  );
}

/** A screen: its heading and its content. `actions` are next to the heading. */
export function Screen(props: {
  title: string;
  realm?: string;
  /** A line below the heading. */
  description?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = [props.title, props.realm, 'idkit'].filter((part) => part !== undefined).join(' · ');
    // A link that led here is no longer on the page, so the focus is lost. Screen readers continue at the heading.
    if (document.activeElement === document.body) heading.current?.focus({ preventScroll: true });
  }, [props.title, props.realm]);
  return (
    <PageSection>
      {props.realm === undefined ? null : <p className="realm">Realm {props.realm}</p>}
      <div className="heading">
        <Title headingLevel="h1" ref={heading} tabIndex={-1}>
          {props.title}
        </Title>
        {props.actions === undefined ? null : <div className="heading-actions">{props.actions}</div>}
      </div>
      {props.description === undefined ? null : <p className="description">{props.description}</p>}
      {props.children}
    </PageSection>
  );
}
