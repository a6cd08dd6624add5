import { Checkbox } from '@patternfly/react-core/dist/dynamic/components/Checkbox';
import { ExpandableSection } from '@patternfly/react-core/dist/dynamic/components/ExpandableSection';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { path } from '../../api/admin-api.ts';
import { eventTypes } from '../../api/service-choices.ts';
import { ConfirmButton } from '../../components/forms.tsx';
import { useRights } from '../../components/rights.tsx';
import { Loaded, useChange } from '../../components/service-calls.tsx';
import { useApi } from '../../components/session.tsx';
import { SettingsForm } from '../../components/settings-form.tsx';
import { EVENTS } from './settings-fields.ts';

interface EventsConfig {
  eventsEnabled: boolean;
  eventsExpiration?: number;
  enabledEventTypes: readonly string[];
  adminEventsEnabled: boolean;
  adminEventsDetailsEnabled: boolean;
}

/** Which events the realm stores, and for how long. */
export function EventSettings({ realm }: { realm: string }) {
  const api = useApi();
  const rights = useRights(realm);
  const config = useQuery({
    queryKey: ['events-config', realm],
    queryFn: () => api.get<EventsConfig>(path`/${realm}/events/config`),
  });
  return (
    <Loaded of={config}>
      {(found) => (
        <>
          <SettingsForm
            record={found}
            sections={EVENTS}
            readOnly={!rights.has('manage-events')}
            notice={{ done: 'The settings were saved', failed: 'The settings were not saved' }}
            save={(changed) => api.send('PUT', path`/${realm}/events/config`, changed)}
          >
            {({ read, write }) =>
              read('eventsEnabled') !== true ? null : (
                <EventTypes
                  chosen={read('enabledEventTypes') as readonly string[]}
                  onChange={(types) => write('enabledEventTypes', types)}
                />
              )
            }
          </SettingsForm>
          <div className="further buttons">
            <Clear realm={realm} what="events" label="Delete stored events of users" />
            <Clear realm={realm} what="admin-events" label="Delete stored events of administrators" />
          </div>
        </>
      )}
    </Loaded>
  );
}

/** The types of events to store. Each stands for its success and its error. */
function EventTypes(props: { chosen: readonly string[]; onChange: (types: readonly string[]) => void }) {
  const [open, setOpen] = useState(false);
  const chosen = new Set(props.chosen);
  const known = eventTypes.flatMap((type) => [type, `${type}_ERROR`]);
  const count = eventTypes.filter((type) => chosen.has(type) || chosen.has(`${type}_ERROR`)).length;
  return (
    <ExpandableSection
      isExpanded={open}
      onToggle={(_event, next) => setOpen(next)}
      toggleText={
        count === eventTypes.length
          ? 'All types of user events are stored'
          : `${count} of ${eventTypes.length} types of user events are stored`
      }
    >
      <div className="event-types">
        {eventTypes.map((type) => (
          <Checkbox
            key={type}
            id={`type-${type}`}
            label={type}
            isChecked={chosen.has(type) || chosen.has(`${type}_ERROR`)}
            onChange={(_event, checked) => {
              const next = new Set(chosen);
              for (const one of [type, `${type}_ERROR`]) {
                if (checked) next.add(one);
                else next.delete(one);
              }
              // The order of the saved list, so that choosing a type again leaves nothing to save.
              props.onChange([...new Set([...props.chosen, ...known])].filter((one) => next.has(one)));
            }}
          />
        ))}
      </div>
    </ExpandableSection>
  );
}

function Clear(props: { realm: string; what: 'events' | 'admin-events'; label: string }) {
  const api = useApi();
  const change = useChange({ done: 'The events were deleted', failed: 'The events were not deleted' }, () =>
    api.send('DELETE', `${path`/${props.realm}`}/${props.what}`),
  );
  return (
    <ConfirmButton
      label={props.label}
      title={`${props.label}?`}
      description="All stored events are deleted. It cannot be undone."
      submit="Delete"
      change={change}
    />
  );
}
