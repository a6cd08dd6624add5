import { Button } from '@patternfly/react-core/dist/dynamic/components/Button';
import { useState } from 'react';
import type { Act } from './act.tsx';
import { FormDialog } from './dialog.tsx';

/**
 * A button for what cannot be undone: it asks first.
 *
 * @param props `name`: for a screen reader, where `label` alone says too little; `inline`: within a line of a table
 */
export function AskingButton(props: {
  label: string;
  name?: string;
  inline?: boolean;
  title: string;
  description: string;
  submit: string;
  act: Act;
}) {
  const [asking, setAsking] = useState(false);
  return (
    <>
      <Button
        variant="link"
        isDanger
        isInline={props.inline === true}
        aria-label={props.name ?? props.label}
        onClick={() => setAsking(true)}
      >
        {props.label}
      </Button>
      {asking ? (
        <FormDialog
          title={props.title}
          description={props.description}
          submit={props.submit}
          danger
          act={props.act}
          onClose={() => setAsking(false)}
        />
      ) : null}
    </>
  );
}
