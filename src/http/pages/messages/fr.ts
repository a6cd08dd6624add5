import type { Messages } from './en.ts';

/** Every text of the pages in French. The keys are those of en.ts. */
export const fr: Messages = {
  // Buttons and links
  doLogIn: 'Se connecter',
  doSubmit: 'Envoyer',
  doAccept: 'Accepter',
  doDecline: 'Refuser',
  doYes: 'Oui',
  doNo: 'Non',
  doContinue: 'Continuer',
  doLogout: 'Se déconnecter',
  backToApplication: 'Retour à l’application',
  restartLogin: 'Recommencer',
  continueLogin: 'Poursuivre la connexion',
  toAccount: 'Accéder à votre compte',
  tryAgain: 'Réessayer',
  staySignedIn: 'Rester connecté',
  showPassword: 'Afficher le mot de passe',
  hidePassword: 'Masquer le mot de passe',
  languages: 'Langue',
  footerLinks: 'Autres liens',

  // Login
  loginTitle: 'Connexion à {realm}',
  loginAccountTitle: 'Connectez-vous à votre compte',
  username: 'Nom d’utilisateur',
  usernameOrEmail: 'Nom d’utilisateur ou adresse e-mail',
  email: 'Adresse e-mail',
  password: 'Mot de passe',
  rememberMe: 'Se souvenir de moi',
  attemptedUsername: 'Connexion en tant que',
  otherUser: 'Se connecter avec un autre compte',
  invalidUserMessage: 'Nom d’utilisateur ou mot de passe incorrect.',
  accountDisabledMessage: 'Votre compte est désactivé. Veuillez contacter votre administrateur.',
  reauthenticateMessage: 'Veuillez vous reconnecter pour continuer.',
  loginTimeoutMessage: 'La connexion a pris trop de temps. Veuillez recommencer.',
  accountChangedMessage: 'Votre compte a été modifié pendant la connexion. Veuillez vous reconnecter.',
  loginOtpOneTime: 'Code à usage unique',
  loginOtpHint: 'Saisissez le code affiché par votre application d’authentification.',
  loginOtpDevice: 'Quel appareil affiche le code ?',
  invalidTotpMessage: 'Le code à usage unique est incorrect.',
  secondFactorUnsupportedMessage:
    'Votre second facteur ne peut pas être utilisé ici. Veuillez contacter votre administrateur.',

  // Required actions
  updatePasswordTitle: 'Changer le mot de passe',
  updatePasswordMessage: 'Vous devez changer votre mot de passe pour activer votre compte.',
  passwordNew: 'Nouveau mot de passe',
  passwordConfirm: 'Confirmer le mot de passe',
  passwordRules: 'Règles pour le nouveau mot de passe :',
  missingPasswordMessage: 'Veuillez saisir un nouveau mot de passe.',
  notMatchPasswordMessage: 'Les deux nouveaux mots de passe sont différents.',
  invalidPasswordMinLengthMessage: {
    one: 'Utilisez au moins {0} caractère.',
    other: 'Utilisez au moins {0} caractères.',
  },
  invalidPasswordMaxLengthMessage: {
    one: 'Utilisez au plus {0} caractère.',
    other: 'Utilisez au plus {0} caractères.',
  },
  invalidPasswordMinDigitsMessage: {
    one: 'Utilisez au moins {0} chiffre.',
    other: 'Utilisez au moins {0} chiffres.',
  },
  invalidPasswordMinLowerCaseCharsMessage: {
    one: 'Utilisez au moins {0} lettre minuscule.',
    other: 'Utilisez au moins {0} lettres minuscules.',
  },
  invalidPasswordMinUpperCaseCharsMessage: {
    one: 'Utilisez au moins {0} lettre majuscule.',
    other: 'Utilisez au moins {0} lettres majuscules.',
  },
  invalidPasswordMinSpecialCharsMessage: {
    one: 'Utilisez au moins {0} caractère spécial, par exemple ! ou ?.',
    other: 'Utilisez au moins {0} caractères spéciaux, par exemple ! ou ?.',
  },
  invalidPasswordNotUsernameMessage: 'N’utilisez pas votre nom d’utilisateur comme mot de passe.',
  invalidPasswordNotContainsUsernameMessage: 'N’utilisez pas votre nom d’utilisateur dans le mot de passe.',
  invalidPasswordNotEmailMessage: 'N’utilisez pas votre adresse e-mail comme mot de passe.',
  invalidPasswordRegexPatternMessage: 'Respectez les règles supplémentaires de votre administrateur.',
  invalidPasswordHistoryMessage: {
    one: 'Ne réutilisez pas votre dernier mot de passe.',
    other: 'Ne réutilisez aucun de vos {0} derniers mots de passe.',
  },
  updateProfileTitle: 'Mettre à jour les données du compte',
  updateProfileMessage: 'Vous devez mettre à jour votre profil pour activer votre compte.',
  requiredFields: 'Les champs obligatoires sont marqués d’un astérisque.',
  firstName: 'Prénom',
  lastName: 'Nom',
  ownLabel: '{text}',
  usernameExistsMessage: 'Ce nom d’utilisateur est déjà pris.',
  emailExistsMessage: 'Cette adresse e-mail est déjà utilisée.',
  'error-user-attribute-required': 'Veuillez remplir ce champ.',
  'error-user-attribute-read-only': 'Ce champ ne peut pas être modifié.',
  'error-invalid-value': 'Cette valeur n’est pas autorisée.',
  'error-invalid-length': 'Utilisez entre {min} et {max} caractères.',
  'error-invalid-length-too-short': {
    one: 'Utilisez au moins {min} caractère.',
    other: 'Utilisez au moins {min} caractères.',
  },
  'error-invalid-length-too-long': {
    one: 'Utilisez au plus {max} caractère.',
    other: 'Utilisez au plus {max} caractères.',
  },
  'error-invalid-email': 'Veuillez saisir une adresse e-mail valide.',
  'error-invalid-number': 'Veuillez saisir un nombre.',
  'error-number-out-of-range': 'Veuillez saisir un nombre entre {min} et {max}.',
  'error-invalid-date': 'Veuillez saisir une date sous la forme 2027-01-31.',
  'error-invalid-uri': 'Veuillez saisir une adresse web qui commence par https://.',
  'error-pattern-no-match': 'Cette valeur n’a pas la forme requise.',
  'error-username-invalid-character': 'Le nom d’utilisateur contient un caractère non autorisé.',
  'error-person-name-invalid-character': 'Le nom contient un caractère non autorisé.',
  accountNotSetUpMessage:
    'Votre compte nécessite une étape qui n’est pas possible ici. Veuillez contacter votre administrateur.',
  termsTitle: 'Conditions d’utilisation',
  termsText: 'Veuillez lire et accepter les conditions d’utilisation de ce service pour continuer.',

  // Consent
  oauthGrantTitle: 'Autoriser l’accès à {client}',
  oauthGrantRequest: 'Voulez-vous autoriser ceci ?',
  oauthGrantReview: 'Comment {client} traite vos données :',
  oauthGrantPolicy: 'Politique de confidentialité',
  oauthGrantTerms: 'Conditions du service',
  profileScopeConsentText: 'Profil utilisateur',
  emailScopeConsentText: 'Adresse e-mail',
  addressScopeConsentText: 'Adresse postale',
  phoneScopeConsentText: 'Numéro de téléphone',
  offlineAccessScopeConsentText: 'Accès hors connexion',
  rolesScopeConsentText: 'Rôles de l’utilisateur',
  samlRoleListScopeConsentText: 'Mes rôles',
  organizationScopeConsentText: 'Organisation',

  // Names of Keycloak's built-in clients
  client_account: 'Compte',
  'client_account-console': 'Pages du compte',
  'client_admin-cli': 'Administration en ligne de commande',
  client_broker: 'Connexion avec d’autres fournisseurs',
  'client_realm-management': 'Administration',
  'client_security-admin-console': 'Console d’administration',

  // Errors
  errorTitle: 'Nous sommes désolés…',
  errorDetails: 'Détails pour l’administrateur',
  pageExpiredTitle: 'La page a expiré',
  pageExpiredMessage: 'Cette page appartient à une connexion qui est terminée ou qui a continué ailleurs.',
  applicationFaultMessage:
    'L’application a envoyé une demande non valide. Retournez à l’application et réessayez. Si le problème persiste, contactez l’administrateur de l’application.',
  applicationUnknownMessage:
    'Cette application n’est pas enregistrée ici. Veuillez contacter l’administrateur de l’application.',
  applicationDisabledMessage:
    'Cette application est désactivée. Veuillez contacter l’administrateur de l’application.',
  signInOffMessage: 'La connexion est désactivée pour le moment. Veuillez réessayer plus tard.',
  registrationOffMessage: 'Vous ne pouvez pas créer de compte ici. Veuillez contacter votre administrateur.',
  secureConnectionMessage:
    'Cette page nécessite une connexion sécurisée. Veuillez l’ouvrir avec une adresse qui commence par https://.',
  internalServerErrorMessage: 'Une erreur est survenue. Veuillez réessayer plus tard.',
  loginRefusedMessage:
    'Vous ne pouvez pas vous connecter, car la connexion exige une étape qui n’est pas disponible ici. Veuillez contacter votre administrateur.',
  cookieNotFoundMessage:
    'Votre navigateur n’a pas envoyé le cookie de cette connexion. Veuillez autoriser les cookies dans votre navigateur, puis recommencer.',
  differentUserAuthenticatedMessage:
    'Vous êtes connecté en tant que {username} dans ce navigateur. Veuillez d’abord vous déconnecter, puis vous reconnecter.',
  alreadyLoggedInMessage: 'Vous êtes déjà connecté.',
  pageNotFoundMessage: 'Cette page n’existe pas. Veuillez vérifier l’adresse.',
  badRequestMessage:
    'Cette adresse ne peut pas être ouverte de cette façon. Veuillez revenir en arrière et réessayer.',
  tooLargeMessage: 'Le formulaire contient trop de texte. Veuillez revenir en arrière et le raccourcir.',
  unavailableMessage:
    'Le service n’est pas disponible pour le moment. Veuillez réessayer dans quelques secondes.',

  // Account pages
  accountProfileTitle: 'Données personnelles',
  accountPasswordTitle: 'Mot de passe',
  accountSessionsTitle: 'Appareils',
  accountApplicationsTitle: 'Applications',
  accountSignOut: 'Se déconnecter',
  accountSave: 'Enregistrer',
  accountReadOnly: 'Votre administrateur gère ces données. Vous ne pouvez pas les modifier ici.',
  accountDeniedMessage: 'Vous n’avez pas accès à cette page. Veuillez contacter votre administrateur.',
  accountOffMessage: 'Il n’y a pas de pages de compte ici. Veuillez contacter votre administrateur.',
  accountNotLoggedInMessage: 'Vous n’êtes pas connecté. Veuillez vous connecter pour voir votre compte.',
  accountFormOutdatedMessage: 'Cette page n’était plus à jour. Rien n’a été modifié. Veuillez réessayer.',
  accountUpdatedMessage: 'Vos données ont été enregistrées.',
  accountNotUpdatedMessage: 'Rien n’a été modifié. Veuillez corriger les champs signalés.',
  accountPasswordCurrent: 'Mot de passe actuel',
  accountPasswordHint:
    'Un nouveau mot de passe vous déconnecte de tous les autres appareils et de toutes les applications.',
  accountPasswordMissingMessage: 'Veuillez saisir votre mot de passe actuel.',
  accountPasswordWrongMessage: 'Votre mot de passe actuel est incorrect.',
  accountPasswordUpdatedMessage:
    'Votre mot de passe a été changé. Tous les autres appareils ont été déconnectés.',
  accountSessionsHint:
    'Vous êtes connecté sur ces appareils. Déconnectez tout appareil que vous ne reconnaissez pas.',
  accountSessionsMore: {
    one: 'Et {count} autre, utilisé moins récemment.',
    other: 'Et {count} autres, utilisés moins récemment.',
  },
  accountSessionCurrent: 'Cet appareil',
  accountSessionStarted: 'Connexion :',
  accountSessionLastUse: 'Dernière utilisation :',
  accountSessionAddress: 'Adresse :',
  accountSessionApplications: 'Applications :',
  accountDeviceUnknown: 'Appareil inconnu',
  accountSignOutOthers: 'Se déconnecter partout ailleurs',
  accountSessionEndedMessage: 'L’appareil a été déconnecté.',
  accountSessionsEndedMessage: 'Tous les autres appareils ont été déconnectés.',
  accountApplicationsHint: 'Ces applications ont accès à votre compte.',
  accountApplicationsNone: 'Aucune application n’utilise votre compte.',
  accountApplicationInUse: 'En cours d’utilisation',
  accountApplicationOffline: 'Accès hors connexion',
  accountConsentScopes: 'Vous avez autorisé :',
  accountConsentGiven: 'Depuis :',
  accountRemoveAccess: 'Retirer l’accès',
  accountRemoveOffline: 'Retirer l’accès hors connexion',
  accountAccessRemovedMessage: 'L’accès a été retiré.',

  // Sign out
  logoutConfirmTitle: 'Déconnexion',
  logoutConfirmHeader: 'Voulez-vous vous déconnecter ?',
  logoutConfirmClient: '{client} demande à vous déconnecter.',
  successLogout: 'Vous êtes déconnecté',
  frontchannelLogoutTitle: 'Déconnexion en cours',
  frontchannelLogoutMessage: 'Vous êtes en train d’être déconnecté de ces applications :',

  // The page that posts a form automatically
  formPostTitle: 'Retour à l’application',
  formPostMessage: 'Votre navigateur n’exécute pas de scripts. Appuyez sur le bouton pour continuer.',
};
