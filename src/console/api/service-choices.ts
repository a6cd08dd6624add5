/** What the service offers. The build replaces this name with the values of the service's own tables. */
declare const SERVICE_CHOICES: {
  /** The languages of the pages, as tags such as `en`. */
  readonly locales: readonly string[];
  /** The types of user events, without those of errors. */
  readonly eventTypes: readonly string[];
  readonly signatureAlgorithms: readonly string[];
};

export const { locales, eventTypes, signatureAlgorithms } = SERVICE_CHOICES;
