import type { Messages } from './en.ts';

/** Every text of the pages in Spanish. The keys are those of en.ts. */
export const es: Messages = {
  // Buttons and links
  doLogIn: 'Iniciar sesión',
  doSubmit: 'Enviar',
  doAccept: 'Aceptar',
  doDecline: 'Rechazar',
  doYes: 'Sí',
  doNo: 'No',
  doContinue: 'Continuar',
  doLogout: 'Cerrar sesión',
  backToApplication: 'Volver a la aplicación',
  restartLogin: 'Empezar de nuevo',
  continueLogin: 'Continuar con el inicio de sesión',
  toAccount: 'Ir a su cuenta',
  tryAgain: 'Intentar de nuevo',
  staySignedIn: 'Mantener la sesión',
  showPassword: 'Mostrar la contraseña',
  hidePassword: 'Ocultar la contraseña',
  languages: 'Idioma',
  footerLinks: 'Más enlaces',

  // Login
  loginTitle: 'Iniciar sesión en {realm}',
  loginAccountTitle: 'Inicie sesión en su cuenta',
  username: 'Nombre de usuario',
  usernameOrEmail: 'Nombre de usuario o correo electrónico',
  email: 'Correo electrónico',
  password: 'Contraseña',
  rememberMe: 'Recordarme',
  attemptedUsername: 'Inicio de sesión como',
  otherUser: 'Iniciar sesión con otra cuenta',
  invalidUserMessage: 'Nombre de usuario o contraseña incorrectos.',
  accountDisabledMessage: 'Su cuenta está desactivada. Póngase en contacto con su administrador.',
  reauthenticateMessage: 'Inicie sesión de nuevo para continuar.',
  loginTimeoutMessage: 'El inicio de sesión ha tardado demasiado. Empiece de nuevo.',
  accountChangedMessage: 'Su cuenta ha cambiado durante el inicio de sesión. Inicie sesión de nuevo.',
  loginOtpOneTime: 'Código de un solo uso',
  loginOtpHint: 'Introduzca el código que muestra su aplicación de autenticación.',
  loginOtpDevice: '¿Qué dispositivo muestra el código?',
  invalidTotpMessage: 'El código de un solo uso es incorrecto.',
  secondFactorUnsupportedMessage:
    'Su segundo factor no se puede utilizar aquí. Póngase en contacto con su administrador.',

  // Required actions
  updatePasswordTitle: 'Cambiar la contraseña',
  updatePasswordMessage: 'Debe cambiar su contraseña para activar su cuenta.',
  passwordNew: 'Contraseña nueva',
  passwordConfirm: 'Confirmar la contraseña',
  passwordRules: 'Reglas para la contraseña nueva:',
  missingPasswordMessage: 'Introduzca una contraseña nueva.',
  notMatchPasswordMessage: 'Las dos contraseñas nuevas son diferentes.',
  invalidPasswordMinLengthMessage: {
    one: 'Use al menos {0} carácter.',
    other: 'Use al menos {0} caracteres.',
  },
  invalidPasswordMaxLengthMessage: {
    one: 'Use como máximo {0} carácter.',
    other: 'Use como máximo {0} caracteres.',
  },
  invalidPasswordMinDigitsMessage: {
    one: 'Use al menos {0} dígito.',
    other: 'Use al menos {0} dígitos.',
  },
  invalidPasswordMinLowerCaseCharsMessage: {
    one: 'Use al menos {0} letra minúscula.',
    other: 'Use al menos {0} letras minúsculas.',
  },
  invalidPasswordMinUpperCaseCharsMessage: {
    one: 'Use al menos {0} letra mayúscula.',
    other: 'Use al menos {0} letras mayúsculas.',
  },
  invalidPasswordMinSpecialCharsMessage: {
    one: 'Use al menos {0} carácter especial, por ejemplo ! o ?.',
    other: 'Use al menos {0} caracteres especiales, por ejemplo ! o ?.',
  },
  invalidPasswordNotUsernameMessage: 'No use su nombre de usuario como contraseña.',
  invalidPasswordNotContainsUsernameMessage: 'No use su nombre de usuario en la contraseña.',
  invalidPasswordNotEmailMessage: 'No use su correo electrónico como contraseña.',
  invalidPasswordRegexPatternMessage: 'Siga las reglas adicionales de su administrador.',
  invalidPasswordHistoryMessage: {
    one: 'No vuelva a usar su última contraseña.',
    other: 'No use ninguna de sus últimas {0} contraseñas.',
  },
  updateProfileTitle: 'Actualizar los datos de la cuenta',
  updateProfileMessage: 'Debe actualizar su perfil para activar su cuenta.',
  requiredFields: 'Los campos obligatorios están marcados con un asterisco.',
  firstName: 'Nombre',
  lastName: 'Apellidos',
  ownLabel: '{text}',
  usernameExistsMessage: 'Este nombre de usuario ya está en uso.',
  emailExistsMessage: 'Este correo electrónico ya está en uso.',
  'error-user-attribute-required': 'Rellene este campo.',
  'error-user-attribute-read-only': 'Este campo no se puede modificar.',
  'error-invalid-value': 'Este valor no está permitido.',
  'error-invalid-length': 'Use entre {min} y {max} caracteres.',
  'error-invalid-length-too-short': {
    one: 'Use al menos {min} carácter.',
    other: 'Use al menos {min} caracteres.',
  },
  'error-invalid-length-too-long': {
    one: 'Use como máximo {max} carácter.',
    other: 'Use como máximo {max} caracteres.',
  },
  'error-invalid-email': 'Introduzca un correo electrónico válido.',
  'error-invalid-number': 'Introduzca un número.',
  'error-number-out-of-range': 'Introduzca un número entre {min} y {max}.',
  'error-invalid-date': 'Introduzca una fecha con el formato 2027-01-31.',
  'error-invalid-uri': 'Introduzca una dirección web que empiece por https://.',
  'error-pattern-no-match': 'Este valor no tiene la forma requerida.',
  'error-username-invalid-character': 'El nombre de usuario contiene un carácter no permitido.',
  'error-person-name-invalid-character': 'El nombre contiene un carácter no permitido.',
  accountNotSetUpMessage:
    'Su cuenta necesita un paso que no se puede realizar aquí. Póngase en contacto con su administrador.',
  termsTitle: 'Términos y condiciones',
  termsText: 'Lea y acepte los términos y condiciones de este servicio para continuar.',

  // Consent
  oauthGrantTitle: 'Permitir el acceso a {client}',
  oauthGrantRequest: '¿Quiere permitir lo siguiente?',
  oauthGrantReview: 'Cómo trata {client} sus datos:',
  oauthGrantPolicy: 'Política de privacidad',
  oauthGrantTerms: 'Condiciones del servicio',
  profileScopeConsentText: 'Perfil de usuario',
  emailScopeConsentText: 'Correo electrónico',
  addressScopeConsentText: 'Dirección postal',
  phoneScopeConsentText: 'Número de teléfono',
  offlineAccessScopeConsentText: 'Acceso sin conexión',
  rolesScopeConsentText: 'Roles del usuario',
  samlRoleListScopeConsentText: 'Mis roles',
  organizationScopeConsentText: 'Organización',

  // Names of Keycloak's built-in clients
  client_account: 'Cuenta',
  'client_account-console': 'Páginas de la cuenta',
  'client_admin-cli': 'Administración desde la línea de comandos',
  client_broker: 'Inicio de sesión con otros proveedores',
  'client_realm-management': 'Administración',
  'client_security-admin-console': 'Consola de administración',

  // Errors
  errorTitle: 'Lo sentimos…',
  errorDetails: 'Detalles para el administrador',
  pageExpiredTitle: 'La página ha caducado',
  pageExpiredMessage:
    'Esta página pertenece a un inicio de sesión que ha terminado o ha continuado en otro lugar.',
  applicationFaultMessage:
    'La aplicación ha enviado una solicitud no válida. Vuelva a la aplicación e inténtelo de nuevo. Si ocurre otra vez, póngase en contacto con el administrador de la aplicación.',
  applicationUnknownMessage:
    'Esta aplicación no está registrada aquí. Póngase en contacto con el administrador de la aplicación.',
  applicationDisabledMessage:
    'Esta aplicación está desactivada. Póngase en contacto con el administrador de la aplicación.',
  signInOffMessage: 'El inicio de sesión está desactivado en este momento. Inténtelo de nuevo más tarde.',
  registrationOffMessage: 'Aquí no se puede crear una cuenta. Póngase en contacto con su administrador.',
  secureConnectionMessage:
    'Esta página necesita una conexión segura. Ábrala con una dirección que empiece por https://.',
  internalServerErrorMessage: 'Algo ha salido mal. Inténtelo de nuevo más tarde.',
  loginRefusedMessage:
    'No puede iniciar sesión, porque hace falta un paso que no está disponible aquí. Póngase en contacto con su administrador.',
  cookieNotFoundMessage:
    'Su navegador no ha enviado la cookie de este inicio de sesión. Permita las cookies en su navegador y empiece de nuevo.',
  differentUserAuthenticatedMessage:
    'En este navegador hay una sesión iniciada como {username}. Primero cierre esa sesión y después inicie sesión de nuevo.',
  alreadyLoggedInMessage: 'Ya ha iniciado sesión.',
  pageNotFoundMessage: 'Esta página no existe. Compruebe la dirección.',
  badRequestMessage: 'Esta dirección no se puede abrir de este modo. Vuelva atrás e inténtelo de nuevo.',
  tooLargeMessage: 'El formulario contiene demasiado texto. Vuelva atrás y acórtelo.',
  unavailableMessage: 'El servicio no está disponible en este momento. Inténtelo de nuevo en unos segundos.',

  // Account pages
  accountProfileTitle: 'Datos personales',
  accountPasswordTitle: 'Contraseña',
  accountSessionsTitle: 'Dispositivos',
  accountApplicationsTitle: 'Aplicaciones',
  accountSignOut: 'Cerrar sesión',
  accountSave: 'Guardar',
  accountReadOnly: 'Su administrador gestiona estos datos. No puede modificarlos aquí.',
  accountDeniedMessage: 'No tiene acceso a esta página. Póngase en contacto con su administrador.',
  accountOffMessage: 'Aquí no hay páginas de la cuenta. Póngase en contacto con su administrador.',
  accountNotLoggedInMessage: 'No ha iniciado sesión. Inicie sesión para ver su cuenta.',
  accountFormOutdatedMessage:
    'Esta página no estaba actualizada. No se ha cambiado nada. Inténtelo de nuevo.',
  accountUpdatedMessage: 'Sus datos se han guardado.',
  accountNotUpdatedMessage: 'No se ha cambiado nada. Corrija los campos marcados.',
  accountPasswordCurrent: 'Contraseña actual',
  accountPasswordHint:
    'Una contraseña nueva cierra su sesión en todos los demás dispositivos y en todas las aplicaciones.',
  accountPasswordMissingMessage: 'Introduzca su contraseña actual.',
  accountPasswordWrongMessage: 'Su contraseña actual no es correcta.',
  accountPasswordUpdatedMessage:
    'Su contraseña se ha cambiado. Se ha cerrado la sesión en todos los demás dispositivos.',
  accountSessionsHint: 'Ha iniciado sesión en estos dispositivos. Cierre la sesión en los que no reconozca.',
  accountSessionsMore: {
    one: 'Y {count} más, usado hace más tiempo.',
    other: 'Y {count} más, usados hace más tiempo.',
  },
  accountSessionCurrent: 'Este dispositivo',
  accountSessionStarted: 'Inicio de sesión:',
  accountSessionLastUse: 'Último uso:',
  accountSessionAddress: 'Dirección:',
  accountSessionApplications: 'Aplicaciones:',
  accountDeviceUnknown: 'Dispositivo desconocido',
  accountSignOutOthers: 'Cerrar sesión en los demás dispositivos',
  accountSessionEndedMessage: 'Se ha cerrado la sesión en el dispositivo.',
  accountSessionsEndedMessage: 'Se ha cerrado la sesión en todos los demás dispositivos.',
  accountApplicationsHint: 'Estas aplicaciones tienen acceso a su cuenta.',
  accountApplicationsNone: 'Ninguna aplicación está usando su cuenta.',
  accountApplicationInUse: 'En uso',
  accountApplicationOffline: 'Acceso sin conexión',
  accountConsentScopes: 'Ha permitido:',
  accountConsentGiven: 'Desde:',
  accountRemoveAccess: 'Retirar el acceso',
  accountRemoveOffline: 'Retirar el acceso sin conexión',
  accountAccessRemovedMessage: 'Se ha retirado el acceso.',

  // Sign out
  logoutConfirmTitle: 'Cerrar sesión',
  logoutConfirmHeader: '¿Quiere cerrar la sesión?',
  logoutConfirmClient: '{client} solicita cerrar su sesión.',
  successLogout: 'Ha cerrado la sesión',
  frontchannelLogoutTitle: 'Cerrando la sesión',
  frontchannelLogoutMessage: 'Se está cerrando su sesión en estas aplicaciones:',

  // The page that posts a form automatically
  formPostTitle: 'Volver a la aplicación',
  formPostMessage: 'Su navegador no ejecuta scripts. Pulse el botón para continuar.',
};
