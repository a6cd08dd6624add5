import type { Messages } from './en.ts';

/** Every text of the pages in German. The keys are those of en.ts. */
export const de: Messages = {
  // Buttons and links
  doLogIn: 'Anmelden',
  doSubmit: 'Absenden',
  doAccept: 'Akzeptieren',
  doDecline: 'Ablehnen',
  doYes: 'Ja',
  doNo: 'Nein',
  doContinue: 'Weiter',
  doLogout: 'Abmelden',
  backToApplication: 'Zurück zur Anwendung',
  restartLogin: 'Neu beginnen',
  continueLogin: 'Anmeldung fortsetzen',
  toAccount: 'Zu Ihrem Konto',
  tryAgain: 'Noch einmal versuchen',
  staySignedIn: 'Angemeldet bleiben',
  showPassword: 'Passwort anzeigen',
  hidePassword: 'Passwort verbergen',
  languages: 'Sprache',
  footerLinks: 'Weitere Links',

  // Login
  loginTitle: 'Anmeldung bei {realm}',
  loginAccountTitle: 'Bei Ihrem Konto anmelden',
  username: 'Benutzername',
  usernameOrEmail: 'Benutzername oder E-Mail',
  email: 'E-Mail',
  password: 'Passwort',
  rememberMe: 'Anmeldung merken',
  attemptedUsername: 'Anmeldung als',
  otherUser: 'Mit einem anderen Konto anmelden',
  invalidUserMessage: 'Benutzername oder Passwort ist falsch.',
  accountDisabledMessage: 'Ihr Konto ist deaktiviert. Bitte wenden Sie sich an Ihren Administrator.',
  reauthenticateMessage: 'Bitte melden Sie sich erneut an, um fortzufahren.',
  loginTimeoutMessage: 'Die Anmeldung hat zu lange gedauert. Bitte beginnen Sie neu.',
  accountChangedMessage: 'Ihr Konto wurde während der Anmeldung geändert. Bitte melden Sie sich erneut an.',
  loginOtpOneTime: 'Einmalcode',
  loginOtpHint: 'Geben Sie den Code ein, den Ihre Authenticator-App anzeigt.',
  loginOtpDevice: 'Welches Gerät zeigt den Code an?',
  invalidTotpMessage: 'Der Einmalcode ist falsch.',
  secondFactorUnsupportedMessage:
    'Ihr zweiter Faktor kann hier nicht verwendet werden. Bitte wenden Sie sich an Ihren Administrator.',

  // Required actions
  updatePasswordTitle: 'Passwort ändern',
  updatePasswordMessage: 'Sie müssen Ihr Passwort ändern, um Ihr Konto zu aktivieren.',
  passwordNew: 'Neues Passwort',
  passwordConfirm: 'Passwort wiederholen',
  passwordRules: 'Regeln für das neue Passwort:',
  missingPasswordMessage: 'Bitte geben Sie ein neues Passwort ein.',
  notMatchPasswordMessage: 'Die beiden neuen Passwörter sind verschieden.',
  invalidPasswordMinLengthMessage: {
    one: 'Verwenden Sie mindestens {0} Zeichen.',
    other: 'Verwenden Sie mindestens {0} Zeichen.',
  },
  invalidPasswordMaxLengthMessage: {
    one: 'Verwenden Sie höchstens {0} Zeichen.',
    other: 'Verwenden Sie höchstens {0} Zeichen.',
  },
  invalidPasswordMinDigitsMessage: {
    one: 'Verwenden Sie mindestens {0} Ziffer.',
    other: 'Verwenden Sie mindestens {0} Ziffern.',
  },
  invalidPasswordMinLowerCaseCharsMessage: {
    one: 'Verwenden Sie mindestens {0} Kleinbuchstaben.',
    other: 'Verwenden Sie mindestens {0} Kleinbuchstaben.',
  },
  invalidPasswordMinUpperCaseCharsMessage: {
    one: 'Verwenden Sie mindestens {0} Großbuchstaben.',
    other: 'Verwenden Sie mindestens {0} Großbuchstaben.',
  },
  invalidPasswordMinSpecialCharsMessage: {
    one: 'Verwenden Sie mindestens {0} Sonderzeichen, zum Beispiel ! oder ?.',
    other: 'Verwenden Sie mindestens {0} Sonderzeichen, zum Beispiel ! oder ?.',
  },
  invalidPasswordNotUsernameMessage: 'Verwenden Sie nicht Ihren Benutzernamen als Passwort.',
  invalidPasswordNotContainsUsernameMessage: 'Verwenden Sie Ihren Benutzernamen nicht im Passwort.',
  invalidPasswordNotEmailMessage: 'Verwenden Sie nicht Ihre E-Mail-Adresse als Passwort.',
  invalidPasswordRegexPatternMessage: 'Beachten Sie die weiteren Regeln Ihres Administrators.',
  invalidPasswordHistoryMessage: {
    one: 'Verwenden Sie Ihr letztes Passwort nicht noch einmal.',
    other: 'Verwenden Sie keines Ihrer letzten {0} Passwörter.',
  },
  updateProfileTitle: 'Kontoinformationen aktualisieren',
  updateProfileMessage: 'Sie müssen Ihr Profil aktualisieren, um Ihr Konto zu aktivieren.',
  requiredFields: 'Pflichtfelder sind mit einem Stern gekennzeichnet.',
  firstName: 'Vorname',
  lastName: 'Nachname',
  ownLabel: '{text}',
  usernameExistsMessage: 'Dieser Benutzername ist bereits vergeben.',
  emailExistsMessage: 'Diese E-Mail-Adresse wird bereits verwendet.',
  'error-user-attribute-required': 'Bitte füllen Sie dieses Feld aus.',
  'error-user-attribute-read-only': 'Dieses Feld kann nicht geändert werden.',
  'error-invalid-value': 'Dieser Wert ist nicht erlaubt.',
  'error-invalid-length': 'Verwenden Sie {min} bis {max} Zeichen.',
  'error-invalid-length-too-short': {
    one: 'Verwenden Sie mindestens {min} Zeichen.',
    other: 'Verwenden Sie mindestens {min} Zeichen.',
  },
  'error-invalid-length-too-long': {
    one: 'Verwenden Sie höchstens {max} Zeichen.',
    other: 'Verwenden Sie höchstens {max} Zeichen.',
  },
  'error-invalid-email': 'Bitte geben Sie eine gültige E-Mail-Adresse ein.',
  'error-invalid-number': 'Bitte geben Sie eine Zahl ein.',
  'error-number-out-of-range': 'Bitte geben Sie eine Zahl zwischen {min} und {max} ein.',
  'error-invalid-date': 'Bitte geben Sie ein Datum in der Form 2027-01-31 ein.',
  'error-invalid-uri': 'Bitte geben Sie eine Webadresse ein, die mit https:// beginnt.',
  'error-pattern-no-match': 'Dieser Wert hat nicht die verlangte Form.',
  'error-username-invalid-character': 'Der Benutzername enthält ein Zeichen, das nicht erlaubt ist.',
  'error-person-name-invalid-character': 'Der Name enthält ein Zeichen, das nicht erlaubt ist.',
  accountNotSetUpMessage:
    'Ihr Konto braucht einen Schritt, der hier nicht möglich ist. Bitte wenden Sie sich an Ihren Administrator.',
  termsTitle: 'Nutzungsbedingungen',
  termsText: 'Bitte lesen und akzeptieren Sie die Nutzungsbedingungen dieses Dienstes, um fortzufahren.',

  // Consent
  oauthGrantTitle: 'Zugriff für {client} erlauben',
  oauthGrantRequest: 'Möchten Sie das erlauben?',
  oauthGrantReview: 'So geht {client} mit Ihren Daten um:',
  oauthGrantPolicy: 'Datenschutzerklärung',
  oauthGrantTerms: 'Nutzungsbedingungen',
  profileScopeConsentText: 'Benutzerprofil',
  emailScopeConsentText: 'E-Mail-Adresse',
  addressScopeConsentText: 'Anschrift',
  phoneScopeConsentText: 'Telefonnummer',
  offlineAccessScopeConsentText: 'Offline-Zugriff',
  rolesScopeConsentText: 'Rollen',
  samlRoleListScopeConsentText: 'Meine Rollen',
  organizationScopeConsentText: 'Organisation',

  // Names of Keycloak's built-in clients
  client_account: 'Konto',
  'client_account-console': 'Kontoseiten',
  'client_admin-cli': 'Verwaltung über die Kommandozeile',
  client_broker: 'Anmeldung über andere Anbieter',
  'client_realm-management': 'Verwaltung',
  'client_security-admin-console': 'Verwaltungskonsole',

  // Errors
  errorTitle: 'Es tut uns leid …',
  errorDetails: 'Einzelheiten für den Administrator',
  pageExpiredTitle: 'Die Seite ist abgelaufen',
  pageExpiredMessage:
    'Diese Seite gehört zu einer Anmeldung, die beendet ist oder an anderer Stelle fortgesetzt wurde.',
  applicationFaultMessage:
    'Die Anwendung hat eine ungültige Anfrage gesendet. Kehren Sie zur Anwendung zurück und versuchen Sie es noch einmal. Wenn das wieder geschieht, wenden Sie sich an den Administrator der Anwendung.',
  applicationUnknownMessage:
    'Diese Anwendung ist hier nicht registriert. Bitte wenden Sie sich an den Administrator der Anwendung.',
  applicationDisabledMessage:
    'Diese Anwendung ist deaktiviert. Bitte wenden Sie sich an den Administrator der Anwendung.',
  signInOffMessage: 'Die Anmeldung ist zurzeit abgeschaltet. Bitte versuchen Sie es später noch einmal.',
  registrationOffMessage: 'Sie können hier kein Konto anlegen. Bitte wenden Sie sich an Ihren Administrator.',
  secureConnectionMessage:
    'Diese Seite braucht eine sichere Verbindung. Bitte öffnen Sie sie mit einer Adresse, die mit https:// beginnt.',
  internalServerErrorMessage: 'Etwas ist schiefgegangen. Bitte versuchen Sie es später noch einmal.',
  loginRefusedMessage:
    'Sie können sich nicht anmelden, weil die Anmeldung einen Schritt verlangt, der hier nicht verfügbar ist. Bitte wenden Sie sich an Ihren Administrator.',
  cookieNotFoundMessage:
    'Ihr Browser hat das Cookie dieser Anmeldung nicht gesendet. Bitte erlauben Sie Cookies in Ihrem Browser und beginnen Sie neu.',
  differentUserAuthenticatedMessage:
    'In diesem Browser sind Sie als {username} angemeldet. Bitte melden Sie sich zuerst ab und dann neu an.',
  alreadyLoggedInMessage: 'Sie sind bereits angemeldet.',
  pageNotFoundMessage: 'Diese Seite gibt es nicht. Bitte prüfen Sie die Adresse.',
  badRequestMessage:
    'Diese Adresse kann so nicht geöffnet werden. Bitte gehen Sie zurück und versuchen Sie es noch einmal.',
  tooLargeMessage: 'Das Formular enthält zu viel Text. Bitte gehen Sie zurück und kürzen Sie ihn.',
  unavailableMessage:
    'Der Dienst ist zurzeit nicht erreichbar. Bitte versuchen Sie es in einigen Sekunden noch einmal.',

  // Account pages
  accountProfileTitle: 'Persönliche Daten',
  accountPasswordTitle: 'Passwort',
  accountSessionsTitle: 'Geräte',
  accountApplicationsTitle: 'Anwendungen',
  accountSignOut: 'Abmelden',
  accountSave: 'Speichern',
  accountReadOnly: 'Diese Daten verwaltet Ihr Administrator. Sie können sie hier nicht ändern.',
  accountDeniedMessage:
    'Sie haben keinen Zugriff auf diese Seite. Bitte wenden Sie sich an Ihren Administrator.',
  accountOffMessage: 'Hier gibt es keine Kontoseiten. Bitte wenden Sie sich an Ihren Administrator.',
  accountNotLoggedInMessage: 'Sie sind nicht angemeldet. Bitte melden Sie sich an, um Ihr Konto zu sehen.',
  accountFormOutdatedMessage:
    'Diese Seite war veraltet. Es wurde nichts geändert. Bitte versuchen Sie es noch einmal.',
  accountUpdatedMessage: 'Ihre Daten wurden gespeichert.',
  accountNotUpdatedMessage: 'Es wurde nichts geändert. Bitte korrigieren Sie die markierten Felder.',
  accountPasswordCurrent: 'Aktuelles Passwort',
  accountPasswordHint:
    'Wenn Sie Ihr Passwort ändern, werden Sie auf allen anderen Geräten und in allen Anwendungen abgemeldet.',
  accountPasswordMissingMessage: 'Bitte geben Sie Ihr aktuelles Passwort ein.',
  accountPasswordWrongMessage: 'Ihr aktuelles Passwort ist nicht korrekt.',
  accountPasswordUpdatedMessage: 'Ihr Passwort wurde geändert. Alle anderen Geräte wurden abgemeldet.',
  accountSessionsHint: 'Auf diesen Geräten sind Sie angemeldet. Melden Sie Geräte ab, die Sie nicht kennen.',
  accountSessionsMore: {
    one: 'Und {count} weiteres, das länger nicht verwendet wurde.',
    other: 'Und {count} weitere, die länger nicht verwendet wurden.',
  },
  accountSessionCurrent: 'Dieses Gerät',
  accountSessionStarted: 'Angemeldet:',
  accountSessionLastUse: 'Zuletzt verwendet:',
  accountSessionAddress: 'Adresse:',
  accountSessionApplications: 'Anwendungen:',
  accountDeviceUnknown: 'Unbekanntes Gerät',
  accountSignOutOthers: 'Überall sonst abmelden',
  accountSessionEndedMessage: 'Das Gerät wurde abgemeldet.',
  accountSessionsEndedMessage: 'Alle anderen Geräte wurden abgemeldet.',
  accountApplicationsHint: 'Diese Anwendungen haben Zugriff auf Ihr Konto.',
  accountApplicationsNone: 'Zurzeit verwendet keine Anwendung Ihr Konto.',
  accountApplicationInUse: 'In Verwendung',
  accountApplicationOffline: 'Offline-Zugriff',
  accountConsentScopes: 'Erteilte Zustimmung:',
  accountConsentGiven: 'Seit:',
  accountRemoveAccess: 'Zugriff entziehen',
  accountRemoveOffline: 'Offline-Zugriff entziehen',
  accountAccessRemovedMessage: 'Der Zugriff wurde entzogen.',

  // Sign out
  logoutConfirmTitle: 'Abmelden',
  logoutConfirmHeader: 'Möchten Sie sich abmelden?',
  logoutConfirmClient: '{client} möchte Sie abmelden.',
  successLogout: 'Sie sind abgemeldet',
  frontchannelLogoutTitle: 'Abmeldung läuft',
  frontchannelLogoutMessage: 'Sie werden von diesen Anwendungen abgemeldet:',

  // The page that posts a form automatically
  formPostTitle: 'Zurück zur Anwendung',
  formPostMessage: 'Ihr Browser führt keine Skripte aus. Klicken Sie auf „Weiter“, um fortzufahren.',
};
