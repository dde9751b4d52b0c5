/** A word or phrase that the project does not use. */
export interface Word {
  /** A regular expression in lower case. A space stands for any white space, and the word boundaries are added. */
  readonly pattern: string;
  readonly hint: string;
  /** Also found as a part of an identifier, such as `bar` in `fooBar`, and of a file's name. */
  readonly names?: true;
}

const spelling: Word[] = [
  { pattern: 'licenc(?:e|es|ed|ing|ee|ees)', hint: 'license', names: true },
  { pattern: 'catalogue[sd]?', hint: 'catalog', names: true },
  {
    pattern: '(?:behavi|col|fav|hon|lab|neighb|fl?av|harb|hum|rum|vap)our\\w*',
    hint: 'American spelling: -or',
    names: true,
  },
  {
    pattern:
      '(?:anonym|apolog|author|canonical|capital|categor|character|custom|emphas|final|general|global|initial|local' +
      '|materi?al|maxim|memor|minim|modern|neutral|normal|optim|organ|parallel|priorit|pseudonym|real|recogn|random' +
      '|sanit|serial|special|stabil|standard|summar|synchron|token|util|visual)' +
      'is(?:e|es|ed|er|ers|ing|ations?)',
    hint: 'American spelling: -ize, -ization',
    names: true,
  },
  { pattern: 'analys(?:e|ed|ing)', hint: 'analyze', names: true },
  {
    pattern:
      '(?:un)?(?:cancel|channel|dial|equal|fuel|label|level|marshal|model|panel|signal|total|travel|tunnel)l(?:ed|ing|er)',
    hint: 'American spelling: one l',
    names: true,
  },
  { pattern: 'fulfils?|enrols?|instals?', hint: 'American spelling: ll' },
  { pattern: '(?:de|of)fences?|pretences?', hint: 'American spelling: -se' },
  { pattern: '(?:learn|spel|misspel|burn|dream|leap)t', hint: 'American spelling: -ed' },
  { pattern: 'centre[sd]?|fibres?|metres?|litres?|theatres?', hint: 'American spelling: -er' },
  { pattern: 'grey', hint: 'gray' },
  { pattern: 'artefacts?', hint: 'artifact' },
  { pattern: 'programmes?', hint: 'program' },
  { pattern: 'cheques?', hint: 'check' },
  { pattern: 'judgements?', hint: 'judgment' },
  { pattern: 'practis(?:e|es|ed|ing)', hint: 'practice' },
  { pattern: 'whilst|amongst', hint: 'while, among' },
  { pattern: 'for ever', hint: 'forever' },
  { pattern: 'can not', hint: 'cannot' },
];

const people: Word[] = [
  {
    pattern: 'he|him|his|himself|she|her|hers|herself',
    hint: 'they, their, or name the role: the user, the developer',
  },
  {
    pattern: 'whoever|whomever|whosoever|whom',
    hint: 'name the role (caller, client, user, owner, operator, agent), or "anyone who"',
    names: true,
  },
  {
    pattern: "(?:no|some|any|every)body(?:'s)?|noone",
    hint: 'name the role (caller, client, user, owner, operator, agent), or "no one", "someone"',
    names: true,
  },
  { pattern: "one's own", hint: 'your own, their own' },
];

const terms: Word[] = [
  { pattern: '(?:un)?answer(?:s|ed|ing)?', hint: 'response, respond, return; responds to', names: true },
  {
    pattern:
      'ask(?:s|ed|ing)?(?! (?:the |a |your )?(?:you|user|developer|customer|operator|owner|person|player)s?\\b)',
    hint: 'request, query, call; prompts for (people are asked, programs are not)',
    names: true,
  },
  { pattern: 'notices?', hint: 'event (of a webhook or a payment processor), message; detects', names: true },
  { pattern: 'rooms?', hint: 'space, capacity', names: true },
  { pattern: 'houses?|housed', hint: 'code base, layout, project', names: true },
  { pattern: 'stretch(?:es|ed)?', hint: 'period', names: true },
  { pattern: 'doubt(?:s|ed|ing|ful)?', hint: 'recheck', names: true },
  {
    pattern:
      "(?:(?:its|their|a|the|another's|another|own|which|whose|one|this|that|next|every|each|per|of) turns?(?! of the (?:event )?loop)" +
      '|tak(?:e|es|ing) turns)',
    hint: 'queue position, slot; a run, a round; alternate',
  },
  { pattern: 'mend(?:s|ed|ing)?', hint: 'fix, repair', names: true },
  { pattern: 'tells?|told|telling', hint: 'notify, report, return; distinguish; contain' },
  { pattern: 'hears?|heard', hint: 'receive' },
  { pattern: 'made out to', hint: 'whose audience is' },
  { pattern: 'bear(?:s|ing)? the name', hint: 'is named' },
  {
    pattern: "hold(?:s|ing)? (?:(?:the|its|a|their|both|all|these|those|of|users?'s) )*rows?",
    hint: 'locks the row',
  },
  { pattern: 'good for', hint: 'valid for' },
];

const phrases: Word[] = [
  { pattern: 'whatever', hint: 'any, all, regardless of' },
  {
    pattern:
      '(?:has|have|had) not(?: (?:the|an?|any|got|enough|that|this|those|these|one)|(?=\\s*(?:[.,;:)]|\\*/)))',
    hint: 'does not have, has no',
  },
  { pattern: '(?:has|have|had) got', hint: 'has, has received' },
  { pattern: 'any more(?=\\s*(?:[.,;:)?!\'`"]|\\*/|$))', hint: 'anymore, no longer' },
  { pattern: '(?:is|are|was|were|be|being) none(?! of)', hint: 'does not exist, is not valid; without one' },
  { pattern: '(?:is|are|was|were) to be', hint: 'must be, should be' },
  { pattern: '(?:is|are|was|were|be|been|being) let', hint: 'is allowed to, is admitted' },
  {
    pattern: 'let(?:s|ting)? (?:\\w+ ){0,2}in(?=\\s*(?:$|[.,;:)]| again| with| as| by| when| until))',
    hint: 'admit, accept',
  },
  { pattern: '(?:is|are|was|were|be) had', hint: 'is available' },
  { pattern: '(?:is|are|was|were) over(?! \\d)', hint: 'has ended, is complete' },
  { pattern: '(?:is|are|was|were|be|stays?) away', hint: 'is unavailable' },
  { pattern: '(?:break(?:s|ing)?|broke|broken) off', hint: 'interrupted, incomplete' },
  { pattern: 'moments? to come', hint: 'in the future' },
  { pattern: 'of (?:itself|themselves)', hint: 'about itself; by itself' },
  { pattern: 'lies|lay|lying', hint: 'is, was' },
  { pattern: 'st(?:ands?|ood)(?!-in\\b)(?! (?:for|in for|still|alone|up)\\b)', hint: 'is, as is' },
  { pattern: 'hand(?:s|ed|ing)? (?:over|on)', hint: 'pass' },
  { pattern: 'com(?:e|es|ing) by|came by', hint: 'obtain' },
  { pattern: '(?:com(?:e|es)|came) of', hint: 'result from' },
  { pattern: 'become of|becomes of|became of', hint: 'happens to' },
  { pattern: 'put(?:s|ting)? right', hint: 'fix, correct' },
  { pattern: 'dealt with|deals? with', hint: 'handle, process' },
  { pattern: '(?:go|goes|going|went|gone) on(?! to\\b)', hint: 'continue' },
  { pattern: 'in vain', hint: 'without effect, unsuccessfully' },
  { pattern: 'for nothing', hint: 'without need, without effect' },
  { pattern: 'under way', hint: 'in progress, running' },
  { pattern: 'just now', hint: 'right now' },
  { pattern: 'in the place of', hint: 'instead of, replaces' },
  { pattern: 'an own', hint: 'its own, a separate' },
  { pattern: 'anew', hint: 'again' },
  { pattern: 'beside', hint: 'next to, along with' },
  {
    pattern: '(?:begins?|lies?|comes?) behind|behind (?:the (?:end|last|first)|a (?:place|position))',
    hint: 'past, after',
  },
  { pattern: '(?:given|gave|gives?|giving) back', hint: 'return, refund, release' },
  { pattern: 'from (?:now|then) on', hint: 'from that point, afterwards; now' },
  { pattern: 'shall|ought to', hint: 'must, should, will' },
  {
    pattern:
      'upon|hereby|thereby|therein|thereof|thereupon|wherein|whereof|whereupon|henceforth|hitherto|heretofore|whence|thence|lest|albeit|forthwith',
    hint: 'plain words: on, by this, in it, so, until now',
  },
];

/** All of them. A word that is right in some places has a pattern for the wrong ones alone. */
export const WORDS: readonly Word[] = [...spelling, ...people, ...terms, ...phrases];
