import { Button } from '@patternfly/react-core/dist/dynamic/components/Button';
import { useState } from 'react';
import { FormDialog, TextField } from './forms.tsx';
import type { Change } from './service-calls.tsx';

/** A button that deletes a record after the user has typed its name. */
export function DeleteButton(props: { label: string; name: string; description: string; change: Change }) {
  const [confirming, setConfirming] = useState(false);
  const [typed, setTyped] = useState('');
  return (
    <>
      <Button
        variant="link"
        isDanger
        onClick={() => {
          setTyped('');
          setConfirming(true);
        }}
      >
        {props.label}
      </Button>
      {confirming ? (
        <FormDialog
          title={`Delete ${props.name}?`}
          description={props.description}
          submit="Delete"
          danger
          disabled={typed !== props.name}
          change={props.change}
          onClose={() => setConfirming(false)}
        >
          <TextField
            label={`Type ${props.name} to confirm`}
            required
            value={typed}
            onChange={setTyped}
          />
        </FormDialog>
      ) : null}
    </>
  );
}
