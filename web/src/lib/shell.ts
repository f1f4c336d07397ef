// A command as people type it and as the yard keeps it. A plain line becomes its words by the rules of sh, so that no shell
// stands between the yard and the program; a line that wants a shell (pipes, variables, patterns, several lines) is kept as it
// is and handed to `sh -c`. `commandText` is the way back: what it writes is read as the same words again.

/** Why a line wants a shell. */
type ShellReason = 'operator' | 'variable' | 'pattern' | 'lines' | 'assignment' | 'comment' | 'home' | 'keyword';

export type Command =
  | { kind: 'empty' }
  | { kind: 'words'; argv: string[] }
  | { kind: 'shell'; argv: string[]; reason: ShellReason }
  | { kind: 'fault'; fault: 'quote' | 'double_quote' | 'backslash' | 'nul' };

const blank = (character: string) => character === ' ' || character === '\t';
const operators = new Set(['|', '&', ';', '<', '>', '(', ')']);
// Words that mean something to a shell where a command begins; as programs they do not exist.
const keywords = new Set(['!', '.', '{', '}', 'alias', 'case', 'cd', 'do', 'eval', 'exec', 'exit', 'export', 'for', 'if', 'set', 'source', 'then', 'trap', 'ulimit', 'umask', 'unset', 'until', 'while']);

/** Reads what was typed. Nothing is expanded: a line that would be is for the shell. */
export function readCommand(typed: string): Command {
  const text = typed.replace(/\r\n?/g, '\n');
  if (text.includes('\0')) return { kind: 'fault', fault: 'nul' };
  const argv: string[] = [];
  // Null between words; '' once a quote has begun an empty one.
  let word = null as string | null;
  let plain = true; // nothing of this word was quoted yet
  let reason: ShellReason | null = null;
  let broken = false; // a line of the command has ended
  const wants = (why: ShellReason) => {
    reason ??= why;
  };
  const endWord = () => {
    if (word === null) return;
    if (argv.length === 0 && plain && keywords.has(word)) wants('keyword');
    argv.push(word);
    word = null;
    plain = true;
  };
  const begin = () => {
    if (broken) wants('lines');
    word ??= ''; // also where nothing will follow: a pair of quotes is a word
  };

  for (let at = 0; at < text.length; at++) {
    const character = text[at]!;
    if (blank(character)) {
      endWord();
    } else if (character === '\n') {
      endWord();
      if (argv.length > 0) broken = true;
    } else if (character === '\\') {
      const next = text[at + 1];
      if (next === undefined) return { kind: 'fault', fault: 'backslash' };
      at++;
      if (next === '\n') continue; // the command goes on in the next line
      begin();
      plain = false;
      word = (word ?? '') + next;
    } else if (character === "'") {
      const end = text.indexOf("'", at + 1);
      if (end < 0) return { kind: 'fault', fault: 'quote' };
      begin();
      plain = false;
      word = (word ?? '') + text.slice(at + 1, end);
      at = end;
    } else if (character === '"') {
      begin();
      plain = false;
      const quoted = readDoubleQuoted(text, at + 1);
      if (!quoted) return { kind: 'fault', fault: 'double_quote' };
      if (quoted.expands) wants('variable');
      word = (word ?? '') + quoted.text;
      at = quoted.end;
    } else {
      const starts = word === null;
      begin();
      if (character === '#' && starts) {
        // What a comment holds is not looked at: an apostrophe in it opens nothing.
        wants('comment');
        const end = text.indexOf('\n', at);
        word = null;
        at = (end < 0 ? text.length : end) - 1;
        continue;
      }
      if (operators.has(character)) wants('operator');
      else if (character === '$' && expandsAt(text, at)) wants('variable');
      else if (character === '`') wants('variable');
      else if (character === '*' || character === '?' || character === '[') wants('pattern');
      else if (character === '~' && starts) wants('home');
      else if (character === '=' && argv.length === 0 && plain && /^[A-Za-z_][A-Za-z0-9_]*$/.test(word ?? '')) wants('assignment');
      word = (word ?? '') + character;
    }
  }
  endWord();
  if (argv.length === 0 && reason === null) return { kind: 'empty' };
  if (reason === null) return { kind: 'words', argv };
  if (argv.length === 0) return { kind: 'empty' }; // comments alone
  return { kind: 'shell', argv: ['sh', '-c', text.trim()], reason };
}

/** Inside double quotes from `at`: the text to the closing one and where that is; null without one. */
function readDoubleQuoted(text: string, at: number): { text: string; end: number; expands: boolean } | null {
  let inner = '';
  let expands = false;
  for (; at < text.length; at++) {
    const character = text[at]!;
    if (character === '"') return { text: inner, end: at, expands };
    if (character === '\\') {
      const next = text[at + 1];
      if (next === undefined) return null;
      at++;
      if (next === '\n') continue;
      inner += next === '$' || next === '`' || next === '"' || next === '\\' ? next : `\\${next}`;
      continue;
    }
    if (character === '`' || (character === '$' && expandsAt(text, at))) expands = true;
    inner += character;
  }
  return null;
}

/** Whether the dollar at `at` begins an expansion; one before a blank, a closing quote or the end is a dollar. */
function expandsAt(text: string, at: number): boolean {
  const next = text[at + 1];
  return next !== undefined && /[A-Za-z0-9_{(@*#?$!'-]/.test(next);
}

const plainWord = /^[A-Za-z0-9_@%+:,./-][A-Za-z0-9_@%+=:,./-]*$/;

/** A word as sh reads it back: 'it'\''s', plain ones as they are. */
export function quote(word: string): string {
  return plainWord.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** Words as one line. The first is quoted where sh would take it for an assignment or a keyword. */
export function quoteAll(argv: readonly string[]): string {
  return argv.map((word, at) => (at === 0 && (word.includes('=') || keywords.has(word)) ? `'${word.replaceAll("'", "'\\''")}'` : quote(word))).join(' ');
}

/** What somebody would have typed for these words; read again, it gives the same. */
export function commandText(argv: readonly string[]): string {
  const line = argv[2];
  if (argv.length === 3 && argv[0] === 'sh' && argv[1] === '-c' && line !== undefined) {
    const again = readCommand(line);
    if (again.kind === 'shell' && again.argv[2] === line) return line;
  }
  return quoteAll(argv);
}

/** A word of the yard as text; bytes that are not UTF-8 become �, and `whole` says so. */
export function wordText(word: string | { base64: string }): { text: string; whole: boolean } {
  if (typeof word === 'string') return { text: word, whole: true };
  try {
    const bytes = Uint8Array.from(atob(word.base64), (character) => character.charCodeAt(0));
    return { text: new TextDecoder().decode(bytes), whole: false };
  } catch {
    return { text: '�', whole: false };
  }
}
