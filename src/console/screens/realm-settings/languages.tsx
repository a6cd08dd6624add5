import { Checkbox } from '@patternfly/react-core/dist/dynamic/components/Checkbox';
import { FormGroup } from '@patternfly/react-core/dist/dynamic/components/Form';
import { FormSelect, FormSelectOption } from '@patternfly/react-core/dist/dynamic/components/FormSelect';
import { path } from '../../api/admin-api.ts';
import type { Realm } from '../../api/representations.ts';
import { locales } from '../../api/service-choices.ts';
import { useApi } from '../../components/session.tsx';
import { SettingsForm, type SettingsSection } from '../../components/settings-form.tsx';

const SECTIONS: readonly SettingsSection[] = [
  {
    fields: [
      {
        path: 'internationalizationEnabled',
        label: 'Offer several languages',
        kind: 'switch',
        help: 'Users choose a language on the pages; without a choice it is that of the browser. Otherwise all pages are in English',
      },
    ],
  },
];

/** The languages of the realm's pages. */
export function Languages(props: { realm: string; record: Realm; readOnly: boolean }) {
  const api = useApi();
  return (
    <SettingsForm
      record={props.record}
      sections={SECTIONS}
      readOnly={props.readOnly}
      notice={{ done: 'The languages were saved', failed: 'The languages were not saved' }}
      save={(changed) => api.send('PUT', path`/${props.realm}`, changed)}
    >
      {({ read, write }) => {
        if (read('internationalizationEnabled') !== true) return null;
        const chosen = read('supportedLocales');
        const supported = Array.isArray(chosen) ? chosen.map(String) : [];
        // Languages that only Keycloak has stay in the list.
        const all = [...new Set([...locales, ...supported])];
        return (
          <>
            <FormGroup role="group" isStack label="Languages" fieldId="locales">
              {all.map((locale) => (
                <Checkbox
                  key={locale}
                  id={`locale-${locale}`}
                  label={nameOf(locale)}
                  description={locales.includes(locale) ? undefined : 'The pages of idkit do not have it'}
                  isChecked={supported.includes(locale)}
                  onChange={(_event, checked) =>
                    write(
                      'supportedLocales',
                      all.filter((one) => (one === locale ? checked : supported.includes(one))),
                    )
                  }
                />
              ))}
            </FormGroup>
            <FormGroup label="Default language" fieldId="default-locale">
              <FormSelect
                id="default-locale"
                value={String(read('defaultLocale') ?? '')}
                onChange={(_event, value) => write('defaultLocale', value)}
              >
                <FormSelectOption value="" label="The first one" />
                {supported.map((locale) => (
                  <FormSelectOption key={locale} value={locale} label={nameOf(locale)} />
                ))}
              </FormSelect>
            </FormGroup>
          </>
        );
      }}
    </SettingsForm>
  );
}

/** Returns the name of a language in English, and in the language itself. */
function nameOf(locale: string): string {
  try {
    const english = new Intl.DisplayNames(['en'], { type: 'language' }).of(locale) ?? locale;
    const own = new Intl.DisplayNames([locale], { type: 'language' }).of(locale) ?? locale;
    return english === own ? english : `${english} (${own})`;
  } catch {
    // The tag is not that of a language.
    return locale;
  }
}
