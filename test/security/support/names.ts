/** Names that are invisible or misleading. */
export const UNREADABLE: readonly string[] = [
  ' ',
  '   ',
  '\u00a0\u3000\u2003',
  // Blank Braille, Hangul fillers, an invisible musical symbol, a blank hieroglyph.
  '\u2800',
  '\u3164',
  '\u115f',
  '\u1160',
  '\uffa0',
  '\u{1d159}',
  '\u{13441}',
  // Replacement characters.
  '\ufffc',
  '\ufffd',
  'admin\u2800',
  'admin\u{1d159}',
  'admin\ufffc',
  'adm\ufffdn',
  'Pro\u3164',
  // Marks and joiners without a base character.
  '\u0301',
  '\u200d',
  '\u200c\u200d',
  '\ufe0f',
  // Marks that cover the lines above and below.
  `a${'\u0301'.repeat(5)}`,
  `ab${'\u20dd\u0336\u0489\u0323\u0302'}c`,
  // Zero width, direction, controls, tags, private use, unassigned.
  'ad\u200bmin',
  '\u202enimda',
  '\u2066admin\u2069',
  'a\u0007b',
  'a\u2028b',
  'admin\u00ad',
  'admin\u034f',
  'admin\u{e0041}',
  'a\ue000b',
  'a\u0378b',
];

/** Real names in many scripts. */
export const READABLE: readonly string[] = [
  'Ada Lovelace',
  'O’Neil & Søn, Ltd. #1',
  'Straße 24 — Çelik',
  'Ирина Петрова',
  'Παπαδόπουλος',
  'Արամ',
  'דן כהן',
  'محمد ٥',
  'आरव शर्मा',
  'ตัวอย่าง',
  '山田　太郎',
  'カメラ Pro ひらがな',
  '김민수 Studio',
  'ქართული',
  'ᏣᎳᎩ',
  'ភាសាខ្មែរ',
  'မြန်မာ',
  'Иван_TV',
  '🦊 Fox',
  'Müller & Söhne GmbH',
  'C++',
  'Nguye\u0302\u0303n',
  'ཧཱུྃ སྒྲུབས',
  'שָׁלֽוֹם',
  `a${'\u0301'.repeat(4)}b`,
];

/** Names with joiners and emoji selectors, which usernames may not have. */
export const JOINED: readonly string[] = ['می‌خواهم', '❤️ Shop', '👩‍💻 Tools', 'ශ්‍රී'];
