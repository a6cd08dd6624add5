/**
 * A text of the message files by its key, with what is filled in. The keys' one list is `MessageKey` of the pages;
 * here they are plain names, so that rules need not know of languages.
 */
export interface Message {
  key: string;
  values?: Readonly<Record<string, string>>;
}

/** A field of the user's own data. */
export interface PageField {
  name: string;
  label: Message;
  value: string;
  required: boolean;
  readOnly: boolean;
  /** What is wrong with the value that was sent. */
  fault?: Message;
}
