/** What the service offers. The build replaces this name with the values of the service's own tables. */
declare const SERVICE_CHOICES: {
  /** The languages of the pages, as tags such as `en`. */
  readonly locales: readonly string[];
  /** The types of user events, without those of errors. */
  readonly eventTypes: readonly string[];
  readonly signatureAlgorithms: readonly string[];
  /** The longest grace period of refresh tokens in seconds. */
  readonly mostGraceSeconds: number;
};

export const { locales, eventTypes, mostGraceSeconds, signatureAlgorithms } = SERVICE_CHOICES;
