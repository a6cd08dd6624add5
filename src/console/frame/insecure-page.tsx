import { Title } from '@patternfly/react-core/dist/dynamic/components/Title';

/**
 * The page for an address at which the browser does not offer `crypto.subtle`: plain http at a host other than
 * localhost. Says what is missing and what to do.
 */
export function InsecurePage({ address }: { address: URL }) {
  const port = address.port === '' ? '80' : address.port;
  return (
    <main className="waiting insecure">
      <Title headingLevel="h1">The console needs https, or localhost</Title>
      <p>
        You opened it at <code>{address.origin}</code>. At such an address, browsers switch off the
        cryptography that a login needs (<code>crypto.subtle</code>), because anyone in the network could read
        the password and change this page.
      </p>
      <p>Choose one of these:</p>
      <ul>
        <li>
          Serve the console with a certificate: <code>idkit serve --tls-cert FILE --tls-key FILE</code>, or a
          proxy with https in front of it.
        </li>
        <li>
          Open it through a tunnel: <code>{`ssh -L ${port}:127.0.0.1:${port} ${address.hostname}`}</code>, and
          then <code>{`http://localhost:${port}/admin/`}</code>. The base URL of the service has to be that
          address too.
        </li>
        <li>
          In a terminal on the machine of the service: <code>idkit admin</code> does the same work.
        </li>
      </ul>
    </main>
  );
}
