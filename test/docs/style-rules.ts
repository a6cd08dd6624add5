// The phrases that docs/style.md replaces. A test looks for them in sources, tests and pages. The table on that page is
// generated from this list.

export interface StyleRule {
  /** The name of the phrase in the table. */
  avoid: string;
  instead: string;
  pattern: RegExp;
  before: string;
  after: string;
}

export const STYLE_RULES: readonly StyleRule[] = [
  {
    avoid: 'tell, told',
    instead: 'report, log, notify, say, distinguish',
    pattern: /\b(?:tells?|told|telling)\b|\btold[A-Z]/gi,
    before: 'a disabled client is told by name',
    after: 'reports a disabled client by its name',
  },
  {
    avoid: 'unless told',
    instead: 'Default:',
    pattern: /\bunless (?:told|given|set|said) otherwise\b|\bunless told\b/gi,
    before: 'Seconds that one statement may take; 10 unless told.',
    after: 'Statement timeout in seconds. Default: 10.',
  },
  {
    avoid: 'is no X',
    instead: 'is not an X',
    pattern:
      /(?<!\b[Tt]here )\b(?:is|was|are|were) no (?!longer\b|more\b|less\b|better\b|worse\b|later\b|other\b|room\b|one\b)[a-z]/g,
    before: 'NAME is no name of a set',
    after: 'NAME is not the name of a set',
  },
  {
    avoid: 'Second of, Seconds of',
    instead: 'Unix time in seconds of, Duration in seconds of',
    pattern: /\bSeconds? of (?!\d)|\bMilliseconds? of (?!\d)|\bMoment of\b/g,
    before: 'Second of its issue.',
    after: 'Unix time in seconds of its issue.',
  },
  {
    avoid: 'undefined where, none where',
    instead: 'if, when',
    pattern: /\b(?:undefined|null|false|true|none|empty|nothing|absent) where\b/gi,
    before: 'undefined where the file does not exist',
    after: 'Returns undefined if the file does not exist.',
  },
  {
    avoid: 'anew',
    instead: 'again, a new',
    pattern: /\banew\b/gi,
    before: 'seals every secret anew',
    after: 'encrypts every secret with the new key',
  },
  {
    avoid: 'whoever',
    instead: 'the caller, the user, anyone who',
    pattern: /\bwho(?:so)?(?:m)?ever\b/gi,
    before: 'whoever needs one next makes a new one',
    after: 'the next caller opens a new connection',
  },
  {
    avoid: 'beside',
    instead: 'next to, in addition to, besides',
    pattern: /\bbeside\b/gi,
    before: 'loaded beside the live one',
    after: 'loaded into a staged database',
  },
  {
    avoid: 'goes on',
    instead: 'continues, resumes',
    pattern: /\b(?:go|goes|went|going|gone) on\b(?! the wire)|\bgoOn\b/gi,
    before: 'while the service goes on',
    after: 'while the service is running',
  },
  {
    avoid: 'looked at',
    instead: 'checked, read',
    pattern: /\blook(?:s|ed|ing)? at\b|\blooks? (?:up )?at\b/gi,
    before: '`token_type_hint` is not looked at',
    after: '`token_type_hint` is ignored',
  },
  {
    avoid: 'hears, heard',
    instead: 'receives, is notified',
    pattern: /\b(?:hears?|heard|hearing)\b/gi,
    before: '`note` hears the journal as it is',
    after: '`note` receives the current journal',
  },
  {
    avoid: 'asked for',
    instead: 'requested, required',
    pattern: /\basked for\b/gi,
    before: 'the passphrase is asked for',
    after: 'prompts for the passphrase',
  },
  {
    avoid: 'cannot be had',
    instead: 'is unavailable',
    pattern: /\b(?:can|cannot|could|could not|may|to) be had\b/gi,
    before: 'the keys of ISSUER cannot be had',
    after: 'the keys of ISSUER are unavailable',
  },
  {
    avoid: 'stands',
    instead: 'is, is written',
    pattern: /\b(?:stands?|stood|standing)\b(?! for\b|-)/gi,
    before: 'as it stands in the file',
    after: 'as written in the file',
  },
  {
    avoid: 'taken away, gone away, away',
    instead: 'revoked, removed, closed, unavailable',
    pattern: /\b(?:taken?|takes|took|taking|goes|go|gone|went|is|are|was|were) away\b/gi,
    before: 'a role that is taken away',
    after: 'a revoked role',
  },
  {
    avoid: 'in the way',
    instead: 'conflicts with, prevents',
    pattern: /\bin (?:the|its|their|one's|nobody's|nobody’s) way\b/gi,
    before: 'a database NAME is in the way',
    after: 'the database NAME exists already',
  },
  {
    avoid: 'what came of it',
    instead: 'the result',
    pattern: /\bwhat (?:came|comes|became|becomes) of\b/gi,
    before: 'the engine is asked what came of it',
    after: 'idkit reads the result from the engine',
  },
  {
    avoid: 'as ever, parted at, lest, thereof',
    instead: 'as before, split at, so that … not, of it',
    pattern: /\bas ever\b|\bparted at\b|\blest\b|\b(?:there|where)(?:of|by|upon)\b/gi,
    before: 'words parted at blanks',
    after: 'words are split at spaces',
  },
];
