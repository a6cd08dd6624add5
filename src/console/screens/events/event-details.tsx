import { Button } from '@patternfly/react-core/dist/dynamic/components/Button';
import {
  DescriptionList,
  DescriptionListDescription,
  DescriptionListGroup,
  DescriptionListTerm,
} from '@patternfly/react-core/dist/dynamic/components/DescriptionList';
import {
  Modal,
  ModalBody,
  ModalFooter,
  ModalHeader,
} from '@patternfly/react-core/dist/dynamic/components/Modal';
import { type ReactNode, useId } from 'react';

/**
 * Everything that is stored of an event.
 *
 * @param props rows without a value are left out; `text` is what was sent, as JSON
 */
export function EventDetails(props: {
  title: string;
  rows: readonly (readonly [name: string, value: ReactNode])[];
  text?: string | undefined;
  onClose: () => void;
}) {
  const title = useId();
  return (
    <Modal variant="medium" isOpen onClose={props.onClose} aria-labelledby={title}>
      <ModalHeader title={props.title} labelId={title} />
      <ModalBody tabIndex={0}>
        <DescriptionList
          isHorizontal
          isCompact
          horizontalTermWidthModifier={{ default: '8rem', md: '12rem' }}
        >
          {props.rows
            .filter(([, value]) => value !== undefined && value !== '')
            .map(([name, value]) => (
              <DescriptionListGroup key={name}>
                <DescriptionListTerm>{name}</DescriptionListTerm>
                <DescriptionListDescription className="anywhere">{value}</DescriptionListDescription>
              </DescriptionListGroup>
            ))}
        </DescriptionList>
        {props.text === undefined ? null : <pre className="sent">{pretty(props.text)}</pre>}
      </ModalBody>
      <ModalFooter>
        <Button onClick={props.onClose}>Close</Button>
      </ModalFooter>
    </Modal>
  );
}

/** Indents JSON. Any other text stays as it is. */
function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
