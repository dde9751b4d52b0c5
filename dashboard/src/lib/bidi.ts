const MARKS = /[\u202a-\u202e\u2066-\u2069]/g;

/**
 * A text without the marks that embed, override or isolate a direction. For texts that have a name among other words:
 * a mark in the name would also concern the words after it. A name of its own is a `bdi` instead.
 */
export const withoutMarks = (text: string): string => text.replaceAll(MARKS, '');
