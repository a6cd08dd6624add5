import { Button } from '@patternfly/react-core/dist/dynamic/components/Button';
import {
  Masthead,
  MastheadBrand,
  MastheadContent,
  MastheadMain,
  MastheadToggle,
} from '@patternfly/react-core/dist/dynamic/components/Masthead';
import { Nav, NavItem, NavList } from '@patternfly/react-core/dist/dynamic/components/Nav';
import {
  Page,
  PageSection,
  PageSidebar,
  PageSidebarBody,
  PageToggleButton,
} from '@patternfly/react-core/dist/dynamic/components/Page';
import { SkipToContent } from '@patternfly/react-core/dist/dynamic/components/SkipToContent';
import { Title } from '@patternfly/react-core/dist/dynamic/components/Title';
import { Toolbar, ToolbarContent, ToolbarItem } from '@patternfly/react-core/dist/dynamic/components/Toolbar';
import { type ReactNode, useEffect, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { useAdministration } from './session.tsx';

const SECTIONS = [
  ['users', 'Users'],
  ['clients', 'Clients'],
  ['events', 'Events'],
  ['keys', 'Keys'],
] as const;

/** Whether the navigation fits next to the content (PatternFly's breakpoint). */
const isWide = (): boolean => matchMedia('(min-width: 75rem)').matches;

/** The frame of every screen: the header with the sign-out button, and the navigation. */
export function Frame(props: { realm?: string; children: ReactNode }) {
  const { session, logOut } = useAdministration();
  const [location] = useLocation();
  const [open, setOpen] = useState(isWide);
  // On a narrow screen the open navigation would cover the new screen.
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when the location changes
  useEffect(() => setOpen(isWide), [location]);
  const { state } = session;
  const name = state.name === 'logged_in' ? String(state.user['preferred_username'] ?? '') : '';
  const sections = props.realm === undefined ? [] : SECTIONS;
  return (
    <Page
      mainContainerId="main"
      skipToContent={<SkipToContent href="#main">Skip to content</SkipToContent>}
      masthead={
        <Masthead>
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
              <strong className="brand">idkit</strong>
            </MastheadBrand>
          </MastheadMain>
          <MastheadContent>
            <Toolbar isStatic>
              <ToolbarContent alignItems="center">
                <ToolbarItem align={{ default: 'alignEnd' }}>{name}</ToolbarItem>
                <ToolbarItem>
                  <Button variant="plain" onClick={() => void logOut()}>
                    Sign out
                  </Button>
                </ToolbarItem>
              </ToolbarContent>
            </Toolbar>
          </MastheadContent>
        </Masthead>
      }
      sidebar={
        <PageSidebar isSidebarOpen={open}>
          <PageSidebarBody>
            <Nav aria-label="Console">
              <NavList>
                <NavItem isActive={location === '/'}>
                  <Link href="/">All realms</Link>
                </NavItem>
                {sections.map(([section, title]) => {
                  const href = `/${encodeURIComponent(props.realm!)}/${section}`;
                  return (
                    <NavItem key={section} isActive={location === href || location.startsWith(`${href}/`)}>
                      <Link href={href}>{title}</Link>
                    </NavItem>
                  );
                })}
              </NavList>
            </Nav>
          </PageSidebarBody>
        </PageSidebar>
      }
    >
      {props.children}
    </Page>
  );
}

/** A screen: its heading and its content. */
export function Screen(props: { title: string; realm?: string; children: ReactNode }) {
  useEffect(() => {
    document.title = [props.title, props.realm, 'idkit'].filter((part) => part !== undefined).join(' · ');
  }, [props.title, props.realm]);
  return (
    <PageSection>
      {props.realm === undefined ? null : <p className="realm">Realm {props.realm}</p>}
      <Title headingLevel="h1">{props.title}</Title>
      {props.children}
    </PageSection>
  );
}
